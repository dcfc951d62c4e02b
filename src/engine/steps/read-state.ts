/**
 * Step 4: classify → **read state** → next move. Asks the service whether it happened; the answer is kept in
 * `owned.lastRead`, and an effect that is found is assigned to the operation (`reader.ts`).
 *
 * @module
 */

import { sleep } from "../../lang/clock.ts";
import { backoff } from "../backoff.ts";
import { sinceEnds } from "../ended-here.ts";
import type { Engine } from "../engine.ts";
import { about } from "../operation/operation.ts";
import { askReader, isBroken } from "../reader.ts";
import { type Owned, wakeOf } from "./ownership.ts";

/** A reader that breaks down is asked again, like any read; one that answers is believed. */
const ASKED_AT_MOST = 3;

export async function readState(owned: Owned, engine: Engine): Promise<void> {
  const { operation, execution, stored } = owned;
  for (let tries = 0; tries < ASKED_AT_MOST; tries += 1) {
    const left = execution.remainingMs();
    if (left <= 0) break;
    // Noted before the question: only a read that *began* late enough proves an absence.
    const beganAt = engine.ledger.clock.earliest();
    const wall = engine.clock.now();
    const sinceEnd = sinceEnds(operation.ref.id, engine);
    const found = await askReader(operation, stored.record, left, engine, { tag: "may_take" });
    owned.lastRead = { reading: found.reading, beganAt, wall, sinceEnd, found };
    if (found.reading === "duplicated") {
      engine.events.emit("duplicate", () => ({ ...about(operation), source: "read" }));
    }
    if (!isBroken(found)) return;
    const wait = backoff(tries, undefined, engine.timing, engine.random);
    if (wait >= execution.remainingMs()) return;
    if ((await sleep(engine.clock, wait, wakeOf(owned).signal)) === "woken") return;
  }
}
