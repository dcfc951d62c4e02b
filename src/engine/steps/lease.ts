/**
 * Keeps an owned operation owned: renews the lease at a third of its length, and knows by two clocks
 * how much of it is left.
 *
 * @module
 */

import type { Engine } from "../engine.ts";
import { about } from "../operation/operation.ts";
import { inStoreTime } from "../store-call.ts";
import { type Owned, remember, wakeOf } from "./ownership.ts";

/** Renews until stopped. Idle: it never keeps a process alive. */
export function keepLease(owned: Owned, engine: Engine): () => void {
  let cancel = () => {};
  const schedule = () => {
    cancel = engine.clock.after(owned.leaseMs / 3, beat, true);
  };
  const beat = () => {
    void renew(owned, engine).then((kept) => {
      if (kept && owned.active) schedule();
    });
  };
  schedule();
  return () => cancel();
}

/** False once another owner has taken over. A store that does not answer is asked again at the next beat. */
async function renew(owned: Owned, engine: Engine): Promise<boolean> {
  const { ref } = owned.operation;
  const grantedAt = { monotonic: engine.clock.monotonic(), wall: engine.clock.now() };
  const { epoch, leaseMs } = owned;
  const renewing = engine.ledger.move(ref, { move: "renew", epoch, leaseMs }, owned.stored);
  const inTime = await inStoreTime(engine, renewing);
  if (inTime.tag !== "done") return true;
  if (inTime.value.tag === "moved") {
    owned.grantedAt = grantedAt;
    remember(owned, inTime.value.stored);
    return true;
  }
  if (owned.active) loseLease(owned, engine);
  return false;
}

export function loseLease(owned: Owned, engine: Engine): void {
  owned.mayNotFire = "lease_lost";
  engine.events.emit("warning", () => ({ ...about(owned.operation), code: "lease_lost" }));
  wakeOf(owned).abort();
}

/** Whether the lease outlasts an attempt, by monotonic and wall clock: a suspended host stops only one. */
export const leaseLasts = (owned: Owned, ms: number, engine: Engine): boolean =>
  leaseLeft(owned, engine) >= ms;

/** The same, after a renewal where one is needed. */
export async function leaseCovers(owned: Owned, ms: number, engine: Engine): Promise<boolean> {
  if (leaseLasts(owned, ms, engine)) return true;
  await renew(owned, engine);
  return owned.mayNotFire === undefined && leaseLasts(owned, ms, engine);
}

function leaseLeft({ grantedAt, leaseMs }: Owned, { clock }: Engine): number {
  const elapsed = clock.monotonic() - grantedAt.monotonic;
  const onTheWall = Math.abs(clock.now() - grantedAt.wall);
  return leaseMs - Math.max(elapsed, onTheWall);
}
