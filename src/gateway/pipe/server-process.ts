/**
 * An MCP server that is a program: started as the host would have started it, with the host's environment, its own
 * standard error, and an exit code that is handed on.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { constants } from "node:os";
import { McpNotSentError } from "../../classify/mcp.ts";
import { linesOf } from "./lines.ts";
import type { Upstream } from "./upstream.ts";
import { writerTo } from "./writer.ts";

export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly maxMessageBytes: number;
  /** It cannot be started. */
  readonly failed?: ((error: Error) => void) | undefined;
}

/** As shells say it: the program could not be started, or was ended by a signal. */
const NOT_STARTED = 127;
const SIGNALLED = 128;

export function startServer({
  command,
  args,
  cwd,
  env,
  maxMessageBytes,
  failed = () => {},
}: ServerProgram): Upstream {
  const child = spawn(command, [...args], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "inherit"],
    windowsHide: true,
    // There, `npx` is a script of the shell's.
    shell: process.platform === "win32",
  });
  const input = writerTo(child.stdin);
  let isGone = false;
  const ended = new Promise<number>((resolve) => {
    child.once("exit", (code, signal) => {
      isGone = true;
      resolve(code ?? SIGNALLED + (signal ? constants.signals[signal] : 0));
    });
    child.once("error", (error) => {
      failed(error);
      isGone = true;
      resolve(NOT_STARTED);
    });
  });
  return {
    lines: linesOf(child.stdout, maxMessageBytes),
    async send(line) {
      // After this it may arrive, whatever the write says.
      if (isGone || input.isClosed()) throw new McpNotSentError("the server has ended");
      await input.write(line);
    },
    end: input.end,
    signal: (signal) => void child.kill(signal),
    ended,
  };
}
