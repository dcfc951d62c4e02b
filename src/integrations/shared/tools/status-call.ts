/**
 * The status tool inside a framework: asked by a model, in the scope of its turn.
 *
 * @module
 */

import type { StatusReply, StatusTool } from "../../../engine/admin/status-tool.ts";
import { inTurn, type Turn } from "./turn.ts";

/** Asks in the scope of the turn. `line` is what a user must add where there is none. */
export async function statusCall(
  status: StatusTool,
  args: unknown,
  turn: Turn,
  line: string,
): Promise<StatusReply> {
  const question = args as { readonly operation: string };
  return inTurn(turn, { tool: status.toolName, line }, (scope) =>
    status.reply(question, { scope }),
  );
}
