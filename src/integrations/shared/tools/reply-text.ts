/**
 * A reply as a model can read it. A result that JSON cannot carry (a BigInt, a circle) was still a result: thrown by the SDK,
 * "cannot be serialized" would be told to the model as the failure of a call that was made.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";

/** The same reply; without its data, and saying so, if JSON cannot carry that. */
export function told<T extends object>(reply: T): T {
  return textOf(reply) === undefined ? withoutData(reply) : reply;
}

/** The reply as text. */
export const toldText = (reply: object): string =>
  textOf(reply) ?? JSON.stringify(withoutData(reply));

function textOf(reply: object): string | undefined {
  try {
    return JSON.stringify(reply);
  } catch {
    return undefined;
  }
}

const withoutData = <T extends object>(reply: T): T => ({
  ...reply,
  data: undefined,
  message: `${String(peek(reply, "message"))} Its result is not JSON and cannot be shown.`,
});
