/**
 * Step 4: classify → **read state** → next move. Asks the tool's `readState` whether it happened, by `engine/reader.ts`, which
 * also assigns a found effect that has an id. The answer is kept in `owned.lastRead`.
 *
 * @module
 */

import { sleep } from "../../lang/clock.ts";
import { isCleared } from "../../ledger/record.ts";
import { backoff } from "../backoff.ts";
import type { Engine } from "../engine.ts";
import { about } from "../operation/operation.ts";
import { askReader, isBroken } from "../reader.ts";
import { sinceEnds } from "./parts/ended-here.ts";
import { type Owned, wakeOf } from "./parts/ownership.ts";

/** Whether it is there: what a tool with `readFirst` asks before it sends anything. */
const IS_THERE = { tag: "may_be_there" } as const;
const MAY_TAKE = { tag: "may_take" } as const;

/** A reader that breaks down is asked again, like any read; one that answers is believed. */
const ASKED_AT_MOST = 3;

/** An attempt is in doubt, none was answered yes, and there is a reader. */
export const shouldReadState = ({ attempts, operation }: Owned): boolean =>
  operation.tool.readState !== undefined &&
  attempts.some((attempt) => !isCleared(attempt)) &&
  !attempts.some(({ verdict }) => verdict === "committed");

/** A first look is the read before the first attempt. */
export async function readState(owned: Owned, engine: Engine): Promise<void> {
  const { execution, operation } = owned;
  const isFirstLook = owned.unfiredTime !== undefined;
  const runs = engine.live.attempts(operation.ref.id).length > 0;
  execution.inDoubt = runs ? undefined : { epoch: owned.epoch, n: owned.stored.record.fired };
  await readUntilTold(owned, isFirstLook, engine);
  // What is sent now may be answered.
  if (isFirstLook) execution.inDoubt = undefined;
}

async function readUntilTold(owned: Owned, isFirstLook: boolean, engine: Engine): Promise<void> {
  const { operation, execution, stored } = owned;
  const sought = isFirstLook && operation.tool.readFirst ? IS_THERE : MAY_TAKE;
  for (let tries = 0; ; tries += 1) {
    const left = execution.remainingMs();
    if (left <= 0) break;
    // Noted before the question: only a read that *began* late enough proves an absence.
    const beganAt = engine.ledger.clock.earliest();
    const wall = engine.clock.now();
    const sinceEnd = sinceEnds(operation.ref.id, engine);
    const found = await askReader(operation, stored.record, left, engine, sought);
    const again = found.reading === "cannot_tell" ? found.again : undefined;
    owned.lastRead = { reading: found.reading, again, beganAt, wall, sinceEnd, found };
    if (found.reading === "duplicated") {
      engine.events.emit("duplicate", () => ({ ...about(operation), source: "read" }));
    }
    // After a send, the next move says whether it is read again.
    const asksOn = isBroken(found) ? tries + 1 < ASKED_AT_MOST : isFirstLook && again;
    if (!asksOn) return;
    const wait = backoff(tries, undefined, engine.timing, engine.random);
    if (wait >= execution.remainingMs()) return;
    const woken = isFirstLook ? execution.stopped : wakeOf(owned).signal;
    if ((await sleep(engine.clock, wait, woken)) === "woken") return;
  }
}
