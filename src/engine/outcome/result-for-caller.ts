/**
 * One outcome, several callers: each gets a body and a copy of its own, and one that joined is told
 * that it caused nothing.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import type { Outcome } from "../operation/outcome.ts";

export function resultForCaller(outcome: Outcome<unknown>, joined: boolean): Outcome<unknown> {
  if (outcome.status !== "committed" || outcome.resultLost) {
    return joined ? { ...outcome, replayed: true } : outcome;
  }
  const { result } = outcome;
  const isBody = isResponse(result);
  // A reader may hand over a Response whose body it has read itself; that body is gone.
  if (isBody && result.bodyUsed) {
    const { result: _, ...rest } = outcome;
    return { ...rest, resultLost: true, replayed: joined || outcome.replayed };
  }
  const own = isBody ? { ...outcome, result: result.clone() } : outcome;
  if (!joined) return own;
  const copy = isBody ? own.result : copyOf(own.result);
  return { ...own, result: copy, replayed: true, effect: "noop" };
}

/** No caller changes another caller's result; what cannot be copied is shared. */
function copyOf(result: unknown): unknown {
  try {
    return structuredClone(result);
  } catch {
    return result;
  }
}
