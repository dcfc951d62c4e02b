/**
 * An operation this process owns, while it owns it: what the ledger says of it, and what was learned
 * since and is not written down yet.
 *
 * @module
 */

import type { Instant } from "../../../lang/clock.ts";
import { createStop, type Stop } from "../../../lang/stop.ts";
import { merge, withKnown } from "../../../ledger/moves/attempt-edits.ts";
import {
  type AttemptNote,
  type AttemptUpdate,
  notedByClaim,
  type Rejection,
  type Stored,
} from "../../../ledger/record.ts";
import type { Licence } from "../../../reasons.ts";
import type { Reading } from "../../define/reading.ts";
import type { Engine } from "../../engine.ts";
import type { Execution } from "../../operation/operation.ts";
import { about, type Operation } from "../../operation/operation.ts";
import type { Result } from "../../outcome/result.ts";
import type { Situation, StateRead } from "./decide.ts";
import { type TimeToSend, timeToSendOf } from "./time-to-send.ts";

export interface Owned {
  readonly execution: Execution;
  readonly operation: Operation;
  readonly epoch: number;
  readonly holder: string;
  readonly leaseMs: number;
  stored: Stored;
  attempts: AttemptNote[];
  /** The licence to fire in the next pass; `undefined`: nothing is fired in it. */
  licence: Licence | undefined;
  /** Of the attempt that is noted and not fired yet: until when it may send. `undefined`: there is none. */
  unfiredTime: TimeToSend | undefined;
  /** Attempts whose time is up and that are waited for all the same, by their number. */
  slow: Map<number, { readonly time: TimeToSend; stop(): void }> | undefined;
  /** How many attempts it has fired. */
  fires: number;
  /** With `onHiddenRetry: "fail"`: another layer was seen to repeat a request of it, so it fires no more. */
  isRepeatedElsewhere: boolean;
  /** The last read of the state, and what it found. */
  lastRead: (StateRead & { readonly found: Reading<unknown> }) | undefined;
  /** What attempts returned, a `Response` that says no included, and what a read found; by the number of the attempt. */
  results: readonly AttemptResult[];
  lastError: unknown;
  rejection: Rejection | undefined;
  /** Its last attempt failed before it made any request: fired again at once, it would fail again. */
  failedUntried: boolean;
  retryAfterMs: number | undefined;
  /** From when the retry budget lets it be sent again, on the monotonic clock; its token is taken. */
  resendAt: number | undefined;
  /** How many pauses it has made; the longest that the next may be grows with them. */
  pauses: number;
  /** The number of an attempt that may be noted in the ledger, and was given up before it was fired. */
  givenUp: number | undefined;
  /** Why this owner fires no more; `undefined`: it may fire. */
  whyNotFire: Situation["whyNotFire"];
  /** When the lease was asked for, by both local clocks. */
  leaseAskedAt: Instant;
  /** Interrupts a wait when something new is known. Made by `wakeOf`. */
  wake: Stop | undefined;
  /** False once the execution has settled: what comes later is filed, not decided on. */
  active: boolean;
}

interface AttemptResult {
  readonly n: number;
  readonly result: Result;
}

/** The claim stands: this process owns the operation from here on. */
export function takeOwnership(
  execution: Execution,
  stored: Stored,
  holder: string,
  leaseAskedAt: Instant,
  engine: Engine,
): Owned {
  const { operation } = execution;
  const owned = newOwned(execution, stored, holder, leaseAskedAt, engine);
  execution.first = stored.record;
  // An earlier owner may have fired it: whoever leaves now cannot be told that nothing was sent.
  if (!owned.unfiredTime) execution.sent = true;
  const { state } = stored.record;
  const before = state.tag === "claimed" ? state.before : undefined;
  if (before?.tag === "unknown" && before.reason === "owner_lost") {
    engine.events.emit("takeover", () => ({ ...about(operation), epoch: owned.epoch }));
  }
  return owned;
}

function newOwned(
  execution: Execution,
  stored: Stored,
  holder: string,
  leaseAskedAt: Instant,
  engine: Engine,
): Owned {
  const { operation } = execution;
  const { record } = stored;
  const noted = notedByClaim(record);
  return {
    execution,
    operation,
    epoch: record.epoch,
    holder,
    leaseMs: engine.timing.leaseMs,
    stored,
    attempts: [...record.attempts],
    licence: noted?.licence,
    unfiredTime: noted && timeToSendOf(noted, engine),
    slow: undefined,
    fires: 0,
    isRepeatedElsewhere: false,
    lastRead: undefined,
    results: [],
    lastError: undefined,
    rejection: undefined,
    failedUntried: false,
    retryAfterMs: undefined,
    resendAt: undefined,
    pauses: 0,
    givenUp: undefined,
    whyNotFire: record.abandonedFor === undefined ? undefined : "abandoned",
    leaseAskedAt,
    wake: undefined,
    active: true,
  };
}

export function wakeOf(owned: Owned): Stop {
  owned.wake ??= createStop();
  return owned.wake;
}

export function learn(owned: Owned, update: AttemptUpdate): void {
  owned.attempts = owned.attempts.map((attempt) =>
    attempt.n === update.n ? merge(attempt, update) : attempt,
  );
}

export const resultOf = ({ results }: Owned, attempt: number): Result | undefined =>
  results.find(({ n }) => n === attempt)?.result;

/** What comes later for an attempt stands in the place of what came before. */
export function keepResult(owned: Owned, n: number, result: Result): void {
  owned.results = [{ n, result }, ...owned.results.filter((other) => other.n !== n)];
}

/** Starts from what the ledger says now, keeping what only this process knows. */
export function relearn(owned: Owned, stored: Stored | undefined): void {
  if (!stored) return;
  owned.stored = stored;
  const attempts = stored.record.attempts.filter(({ n }) => n !== owned.givenUp);
  owned.attempts = attempts.map((attempt) => {
    const known = owned.attempts.find(({ n }) => n === attempt.n);
    if (!known) return attempt;
    const { verdict = known.verdict, cleared } = attempt;
    return { ...withKnown(attempt, known), verdict, cleared };
  });
}

/** All that was learned of the attempts, for the next durable move. */
export const updatesOf = ({ attempts, givenUp }: Owned): readonly AttemptUpdate[] =>
  givenUp === undefined ? attempts : [...attempts, { n: givenUp, neverFired: true }];

/** Gives up an attempt that was noted, or may have been, and was not fired. */
export function giveUp(owned: Owned, n: number): void {
  owned.givenUp = n;
  owned.unfiredTime = undefined;
  owned.attempts = owned.attempts.filter((attempt) => attempt.n !== n);
}

/** Keeps the newest of what two concurrent moves brought back. */
export function remember(owned: Owned, stored: Stored | undefined): void {
  if (stored && stored.version > owned.stored.version) owned.stored = stored;
}
