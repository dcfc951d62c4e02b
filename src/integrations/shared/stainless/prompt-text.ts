/**
 * The text by which a recorded request is known again.
 *
 * A model is told of a replayed tool call in other words than of the first ("Already done at …"), and it is the same result. So
 * what a replay changes in such an answer is no part of the prompt: a rerun of a loop with guarded tools asks nothing anew.
 *
 * @module
 */

import type { Reply } from "../../../engine/outcome/reply.ts";

/** How the JSON of a `Reply` begins. */
const REPLY = '{"ok":';

/** `undefined` if JSON cannot carry it. */
export function promptText(body: unknown): string | undefined {
  try {
    return JSON.stringify(body, (_, value) =>
      typeof value === "string" && value.startsWith(REPLY) ? resultIn(value) : value,
    );
  } catch {
    return undefined;
  }
}

/** What a tool's answer says of the operation; any other text as it is. */
function resultIn(text: string): unknown {
  const reply = parse(text);
  if (typeof reply?.operation !== "string" || typeof reply.replayed !== "boolean") return text;
  const { effect: _effect, replayed: _replayed, message: _message, ...result } = reply;
  return result;
}

function parse(text: string): Partial<Reply> | undefined {
  try {
    return JSON.parse(text) as Partial<Reply>;
  } catch {
    return undefined;
  }
}
