/**
 * Whether an attempt may start, and until when it may send: the ledger has its note, the lease is held, and its licence still
 * holds.
 *
 * @module
 */

import type { Json } from "../../../key/json.ts";
import { type Instant, instantOf } from "../../../lang/clock.ts";
import { saidYesUnconfirmed } from "../../../ledger/record.ts";
import type { Licence } from "../../../reasons.ts";
import { declaredBy } from "../../define/tool.ts";
import type { Engine } from "../../engine.ts";
import { inStoreTime } from "../../store-call.ts";
import { mayStillResend } from "./decide.ts";
import { leaseLasts, loseLease, mayStillSend, renewsLease } from "./lease.ts";
import { giveUp, type Owned, relearn, remember, updatesOf } from "./ownership.ts";
import { situationOf } from "./situation.ts";
import { noteLonger } from "./still-running.ts";
import {
  attemptMsOf,
  endsByIn,
  extend,
  leftMs,
  type TimeToSend,
  timeToSendOf,
} from "./time-to-send.ts";

/**
 * The durable note comes first; the claim itself is the note of the first attempt, which mostly starts at once. `undefined`: it
 * may not start.
 */
export function prepareAttempt(
  owned: Owned,
  licence: Licence,
  timeoutMs: number,
  at: Instant,
  engine: Engine,
): TimeToSend | undefined | Promise<TimeToSend | undefined> {
  // `noteAndCheck` then refuses: it notes no attempt, and gives up the one that the claim has noted.
  if (!storedPrecondition(owned, engine).ok) owned.whyNotFire = "cannot_tell";
  if (
    owned.unfiredTime &&
    mayFire(owned, at) &&
    leaseLasts(owned, at) &&
    hasTime(owned, timeoutMs, at)
  ) {
    return owned.unfiredTime;
  }
  return noteAndCheck(owned, licence, timeoutMs, engine);
}

async function noteAndCheck(
  owned: Owned,
  licence: Licence,
  timeoutMs: number,
  engine: Engine,
): Promise<TimeToSend | undefined> {
  const now = () => instantOf(engine.clock);
  if (!owned.unfiredTime) {
    if (!mayFire(owned, now()) || !(await note(owned, licence, engine))) return undefined;
  }
  const n = owned.stored.record.fired;
  const isOwner =
    mayFire(owned, now()) && (leaseLasts(owned, now()) || (await renewsLease(owned, engine)));
  const covered =
    isOwner && (hasTime(owned, timeoutMs, now()) || (await noteMoreTime(owned, timeoutMs, engine)));
  // The host may have slept since the licence was given; the store's answer has set the clock right.
  const tooLate = licence === "keyed" && !mayStillResend(situationOf(owned, engine));
  // The store's answer may have taken longer than the lease: the lease and the noted time are checked again.
  const isInTime =
    owned.unfiredTime !== undefined && mayStillSend(owned, owned.unfiredTime, true, now());
  if (covered && isInTime && mayFire(owned, now()) && !tooLate) return owned.unfiredTime;
  if (mayFire(owned, now()) && !(covered && isInTime)) {
    owned.whyNotFire = isOwner && isInTime ? "store_down" : "lease_lost";
  }
  giveUp(owned, n);
  return undefined;
}

const mayFire = ({ execution, whyNotFire, attempts }: Owned, at: Instant): boolean =>
  !execution.stopped.aborted &&
  execution.remainingMs(at) > 0 &&
  whyNotFire === undefined &&
  !attempts.some(({ verdict }) => verdict === "committed");

/** Not if much was done since the attempt was noted: what was read first took time. */
const hasTime = ({ unfiredTime }: Owned, ms: number, at: Instant): boolean =>
  unfiredTime !== undefined && leftMs(unfiredTime, at) >= ms;

async function noteMoreTime(owned: Owned, ms: number, engine: Engine): Promise<boolean> {
  const noted = await noteLonger(owned, owned.stored.record.fired, ms, engine);
  // What stands for a lost note is no note of this attempt.
  if (noted.tag !== "noted" || !noted.own) return false;
  if (owned.unfiredTime) extend(owned.unfiredTime, noted.endsBy, engine);
  return true;
}

async function note(owned: Owned, licence: Licence, engine: Engine): Promise<boolean> {
  const { epoch, holder, leaseMs, stored, operation } = owned;
  const { clock } = engine.ledger;
  const leaseAskedAt = instantOf(engine.clock);
  const firing = {
    at: clock.earliest(leaseAskedAt),
    skew: clock.skew(leaseAskedAt),
    endsBy: endsByIn(attemptMsOf(owned.execution, leaseAskedAt), engine, undefined, leaseAskedAt),
    declared: declaredBy(operation.tool, engine.enlisted),
  };
  const updates = updatesOf(owned);
  const noting = engine.ledger.move(
    operation.ref,
    { move: "note", epoch, holder, licence, updates, leaseMs, ...firing },
    stored,
  );
  const inTime = await inStoreTime(engine, noting);
  if (inTime.tag !== "done") {
    // It may have been written all the same.
    giveUp(owned, owned.givenUp ?? stored.record.fired + 1);
    owned.whyNotFire = "store_down";
    return false;
  }
  const moved = inTime.value;
  if (moved.tag !== "moved" || !moved.stored) {
    const why = moved.tag === "refused" ? moved.why : undefined;
    if (moved.tag !== "refused" || (why !== "evidence" && why !== "changed")) {
      loseLease(owned, engine);
      return false;
    }
    // What the licence rests on has changed: the next pass decides on what is so now.
    relearn(owned, moved.stored);
    // A commit that no attempt of the record has is found by the settle that follows.
    const isDecided = owned.attempts.some(saidYesUnconfirmed);
    if (why === "evidence" && !isDecided) owned.whyNotFire = "stopped";
    return false;
  }
  owned.leaseAskedAt = leaseAskedAt;
  remember(owned, moved.stored);
  // What was given up before is removed by the same move, and its number may be given anew.
  owned.givenUp = undefined;
  const added = moved.stored.record.attempts.at(-1);
  owned.unfiredTime = timeToSendOf(added, engine);
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
