/**
 * A program as a tool.
 *
 * Subpath export `"holdfire/command"`.
 *
 * @module
 */

export type { ExitCodes, ProgramEnd } from "../../classify/exit.ts";
export type { From, Piece, Pieces, Word } from "./argv.ts";
export {
  CommandError,
  type CommandOptions,
  type CommandTool,
  commandTool,
} from "./command-tool.ts";
export type { CommandResult } from "./output.ts";
