/**
 * Whether an attempt may start: the ledger has its note, the lease outlasts it, and its licence still
 * holds.
 *
 * @module
 */

import type { Json } from "../../key/json.ts";
import type { Licence } from "../../ledger/record.ts";
import { declaredBy } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { inStoreTime } from "../store-call.ts";
import { mayStillResend } from "./decide.ts";
import { leaseCovers, leaseLasts, loseLease } from "./lease.ts";
import { situationOf } from "./next-move.ts";
import { endingsOf, forget, type Owned, relearn, remember } from "./ownership.ts";

/** The durable note comes first; the claim itself is the note of the first attempt. */
export async function prepareAttempt(
  owned: Owned,
  licence: Licence,
  timeoutMs: number,
  engine: Engine,
): Promise<boolean> {
  const { execution } = owned;
  if (!storedPrecondition(owned, engine).ok) owned.mayNotFire = "cannot_tell";
  const mayFire = () =>
    !execution.stopped.aborted &&
    execution.remainingMs() > 0 &&
    owned.mayNotFire === undefined &&
    !owned.attempts.some(({ verdict }) => verdict === "committed");
  if (!owned.notePending && !(mayFire() && (await note(owned, licence, engine)))) return false;
  owned.notePending = false;
  const covered =
    mayFire() &&
    (leaseLasts(owned, timeoutMs, engine) || (await leaseCovers(owned, timeoutMs, engine)));
  // The host may have slept since the licence was given; the store's answer has set the clock right.
  const tooLate = licence === "keyed" && !mayStillResend(situationOf(owned, engine));
  if (covered && mayFire() && !tooLate) return true;
  if (mayFire() && !covered) owned.mayNotFire = "lease_lost";
  forget(owned, owned.stored.record.fired);
  return false;
}

async function note(owned: Owned, licence: Licence, engine: Engine): Promise<boolean> {
  const { epoch, leaseMs, stored, operation } = owned;
  const grantedAt = { monotonic: engine.clock.monotonic(), wall: engine.clock.now() };
  const at = engine.ledger.clock.earliest();
  const endings = endingsOf(owned);
  const declared = declaredBy(operation.tool, engine.enlisted);
  const noting = engine.ledger.move(
    operation.ref,
    { move: "note", epoch, licence, endings, declared, leaseMs, at },
    stored,
  );
  const inTime = await inStoreTime(engine, noting);
  if (inTime.tag !== "done") {
    // It may have been written all the same.
    forget(owned, stored.record.fired + 1);
    owned.mayNotFire = "store_down";
    return false;
  }
  const moved = inTime.value;
  if (moved.tag !== "moved" || !moved.stored) {
    // A commit is on record: the settle that follows will find it.
    if (moved.tag === "refused" && moved.why === "evidence") owned.mayNotFire = "stopped";
    // What the licence rests on has changed: the next pass decides on what is so now.
    else if (moved.tag === "refused" && moved.why === "changed") relearn(owned, moved.stored);
    else loseLease(owned, engine);
    return false;
  }
  owned.grantedAt = grantedAt;
  remember(owned, moved.stored);
  const added = moved.stored.record.attempts.at(-1);
  if (added) owned.attempts = [...owned.attempts, added];
  return true;
}

/** What was fixed in the claim; an attempt that cannot read it must not go out without it. */
export function storedPrecondition(
  { stored: { record } }: Owned,
  { codec }: Engine,
): { readonly ok: boolean; readonly value: Json | undefined } {
  if (!record.precondition) return { ok: true, value: undefined };
  const decoded = codec.decode(record.precondition, record);
  return decoded.ok ? { ok: true, value: decoded.value as Json } : { ok: false, value: undefined };
}
