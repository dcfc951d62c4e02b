/**
 * Tries a durable move until the store has answered, for what must not be lost once it is known.
 *
 * @module
 */

import { type Clock, sleep } from "../lang/clock.ts";
import type { StopSignal } from "../lang/stop.ts";
import { withTimeLimit } from "../lang/time-limit.ts";
import type { Moved } from "../ledger/ledger.ts";

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

export type Persist = (move: () => Promise<Moved>) => Promise<Moved | "closed">;

/** Stops trying when `closed` fires: the operation is then open in the ledger, and read later. */
export function createPersist(clock: Clock, timeoutMs: number, closed: StopSignal): Persist {
  return async (move) => {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      const inTime = await withTimeLimit(clock, timeoutMs, move());
      if (inTime.tag === "done") return inTime.value;
      if ((await sleep(clock, waitMs, closed)) === "woken") return "closed";
    }
  };
}
