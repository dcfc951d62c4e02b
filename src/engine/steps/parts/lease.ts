/**
 * Keeps an owned operation owned: renews the lease at a third of its length, and knows by two clocks
 * how much of it is left. Its length is `leaseMs` in `define/settings.ts`. Recorded model answers have a shorter lease of
 * their own, which is not renewed (`reads-and-samples/sample-record.ts`).
 *
 * @module
 */

import { type Instant, type InTime, instantOf, withTimeLimit } from "../../../lang/clock.ts";
import type { Engine } from "../../engine.ts";
import { about } from "../../operation/operation.ts";
import { inStoreTime } from "../../store-call.ts";
import { type Owned, remember, wakeOf } from "./ownership.ts";
import { leftMs, type TimeToSend } from "./time-to-send.ts";

/** The lease is renewed this often, a renewal may take this long, and this much must be left before an attempt starts. */
const thirdOf = ({ leaseMs }: Owned): number => leaseMs / 3;

/** Renews until stopped. Idle: it never keeps a process alive. */
export function keepLease(owned: Owned, engine: Engine): () => void {
  const third = thirdOf(owned);
  const beat = () => {
    void renew(owned, engine).then((renewed) => {
      // A renewal has had its third already when it is late. One that failed is tried again after a third, as one that went well.
      if (renewed === "lost" || !owned.active) return;
      cancel = engine.clock.after(renewed === "late" ? 0 : third, beat, true);
    });
  };
  let cancel = engine.clock.after(third, beat, true);
  return () => cancel();
}

/**
 * `lost` once another owner has taken over, or the record is gone; until then an owner may renew late. A store that does
 * not answer is asked again, and an answer that comes after all counts.
 */
async function renew(owned: Owned, engine: Engine): Promise<"kept" | "late" | "failed" | "lost"> {
  const { epoch, holder, leaseMs } = owned;
  const leaseAskedAt = instantOf(engine.clock);
  const asked = engine.ledger.move(
    owned.operation.ref,
    { move: "renew", epoch, holder, leaseMs },
    owned.stored,
  );
  const renewing = asked.then((moved) => {
    if (moved.tag !== "moved") return "lost";
    if (leaseAskedAt.monotonic >= owned.leaseAskedAt.monotonic) owned.leaseAskedAt = leaseAskedAt;
    remember(owned, moved.stored);
    return "kept";
  });
  const inTime = await withTimeLimit(engine.clock, thirdOf(owned), renewing);
  if (inTime.tag !== "done") return inTime.tag;
  if (inTime.value === "lost" && owned.active) loseLease(owned, engine);
  return inTime.value;
}

export function loseLease(owned: Owned, engine: Engine): void {
  owned.whyNotFire = "lease_lost";
  engine.events.emit("warning", () => ({ ...about(owned.operation), code: "lease_lost" }));
  wakeOf(owned).abort();
}

/** Whether the lease lasts for at least a third of its length, by monotonic and wall clock: a suspended host stops only one. */
export const leaseLasts = (owned: Owned, at: Instant): boolean =>
  leaseLeft(owned, at) > thirdOf(owned);

/** Whether it is held after a renewal. */
export async function renewsLease(owned: Owned, engine: Engine): Promise<boolean> {
  await renew(owned, engine);
  return owned.whyNotFire === undefined && leaseLeft(owned, instantOf(engine.clock)) > 0;
}

/** Whether a request of an attempt may leave: within its time; and until a write of it was answered, only under the lease. */
export const mayStillSend = (
  owned: Owned,
  time: TimeToSend,
  isFirst: boolean,
  at: Instant,
): boolean => leftMs(time, at) > 0 && (!isFirst || leaseLeft(owned, at) > 0);

/**
 * The ledger's answer, for who is about to say that nothing happened. While the lease lasts that is so also without an
 * answer, so it is waited for no longer; once it is over, another owner may have done it.
 */
export function answerWhileOwned<T>(
  owned: Owned,
  asked: Promise<T>,
  engine: Engine,
): Promise<InTime<T>> {
  // A third less: what is told takes time to be told.
  const leftMs = leaseLeft(owned, instantOf(engine.clock)) - thirdOf(owned);
  return inStoreTime(engine, asked, leftMs);
}

/** Another process may own it by now. */
export const mayBeTaken = (owned: Owned, { clock }: Engine): boolean =>
  owned.whyNotFire === "lease_lost" || leaseLeft(owned, instantOf(clock)) <= 0;

function leaseLeft({ leaseAskedAt, leaseMs }: Owned, at: Instant): number {
  const elapsed = at.monotonic - leaseAskedAt.monotonic;
  const onTheWall = Math.abs(at.wall - leaseAskedAt.wall);
  return leaseMs - Math.max(elapsed, onTheWall);
}
