/**
 * Whether a write may leave: not after its attempt has ended, nor after the time that the ledger says it ends by.
 *
 * The async context can be wrong about whose request it is: a shared queue runs one attempt's job in the
 * context of another, and a timer armed in an attempt fires long after it. So after the end a request is stopped
 * only where it is likely to be this attempt's; what passes makes a certainty of this attempt a doubt.
 *
 * @module
 */

import { AttemptEndedError } from "../errors.ts";
import { isWrite } from "./counter.ts";
import type { Address } from "./redirect.ts";
import { findUnseen, termsOf, type WireToken } from "./token-state.ts";

/**
 * `mine`: it is in time, and counted. `passes`: it is late and may be another's. Else the error with which to
 * stop it.
 */
export type Permit = "mine" | "passes" | AttemptEndedError;

export function permitFor(
  token: WireToken,
  method: string,
  { origin, path }: Pick<Address, "origin" | "path">,
): Permit {
  const { counter } = token;
  const terms = termsOf(token);
  if (!terms) return "mine";
  const writes = counter?.requests.filter(isWrite) ?? [];
  const stop = () => new AttemptEndedError({ method, origin, path });
  // Who takes over relies on the time that the ledger says: a `run` that still goes on sends nothing after it.
  if (!token.hasEnded)
    return terms.mayStillSend(writes.every(({ open }) => open)) ? "mine" : stop();
  const other = findUnseen(token);
  if (other) {
    token.contextLost = true;
    other.contextLost = true;
  } else if (writes.some((sent) => sent.origin === origin)) return stop();
  terms.onLate();
  return "passes";
}
