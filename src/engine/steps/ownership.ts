/**
 * An operation this process owns, while it owns it: what the ledger says of it, and what was learned
 * since and is not written down yet.
 *
 * @module
 */

import { wireKey } from "../../key/mint.ts";
import type { KeptResponse } from "../../ledger/codec.ts";
import {
  type AttemptNote,
  type Ending,
  isCleared,
  type Licence,
  type OperationRecord,
  type Rejection,
  type Stored,
} from "../../ledger/record.ts";
import type { Flight } from "../call/execution.ts";
import type { Operation } from "../call/operation.ts";
import type { Engine, ErasedReading, Tool } from "../engine.ts";
import type { Look, Powers, Situation } from "./decide.ts";

/** What an attempt returned; of a `Response`, also what can be kept of it. */
export interface Result {
  readonly value: unknown;
  readonly kept?: KeptResponse | undefined;
}

export interface Owned {
  readonly flight: Flight;
  readonly operation: Operation;
  readonly epoch: number;
  readonly holder: string;
  readonly leaseMs: number;
  stored: Stored;
  attempts: AttemptNote[];
  /** The licence to fire next; `undefined` = look first. */
  licence: Licence | undefined;
  /** The attempt to be fired is in the ledger already: the claim is its note. */
  noted: boolean;
  /** How often this flight has fired. */
  fires: number;
  look: Look | undefined;
  reading: ErasedReading | undefined;
  /** What successful attempts returned, by number. */
  readonly results: Map<number, Result>;
  lastError: unknown;
  rejection: Rejection | undefined;
  retryAfterMs: number | undefined;
  passes: number;
  /** An attempt that may be noted in the ledger, and was not fired. */
  unfired: number | undefined;
  mayNotFire: Situation["mayNotFire"];
  /** When the lease was asked for, by both local clocks. */
  grantedAt: { readonly monotonic: number; readonly wall: number };
  /** Interrupts a wait when something new is known. */
  wake: AbortController;
  /** False once the flight has settled: what comes later is filed, not decided on. */
  active: boolean;
}

export function own(
  flight: Flight,
  stored: Stored,
  holder: string,
  leaseMs: number,
  grantedAt: Owned["grantedAt"],
  engine: Engine,
): Owned {
  const { record } = stored;
  const last = record.attempts.at(-1);
  const noted = last?.epoch === record.epoch;
  return {
    flight,
    operation: flight.operation,
    epoch: record.epoch,
    holder,
    leaseMs,
    stored,
    attempts: stillRunning(record, engine),
    licence: noted ? last?.licence : undefined,
    noted,
    fires: 0,
    look: undefined,
    reading: undefined,
    results: new Map(),
    lastError: undefined,
    rejection: undefined,
    retryAfterMs: undefined,
    passes: 0,
    unfired: undefined,
    mayNotFire: undefined,
    grantedAt,
    wake: new AbortController(),
    active: true,
  };
}

/** An attempt that still runs in this very process has not ended, whatever its lease says. */
function stillRunning(record: OperationRecord, engine: Engine): AttemptNote[] {
  const running = engine.unended.get(record.id);
  if (!running) return [...record.attempts];
  return record.attempts.map((attempt) =>
    running.has(attempt.n) ? { ...attempt, endsBy: undefined } : attempt,
  );
}

/** The key the service sees now. */
export const keyOf = ({ stored: { record } }: Owned): string =>
  wireKey(record.id, record.generation);

export function learn(owned: Owned, ending: Ending): void {
  owned.attempts = owned.attempts.map((attempt) =>
    attempt.n === ending.n ? { ...attempt, ...ending } : attempt,
  );
}

/** Starts from what the ledger says now, keeping what only this process knows. */
export function relearn(owned: Owned, stored: Stored | undefined): void {
  if (!stored) return;
  owned.stored = stored;
  owned.attempts = stored.record.attempts.map((attempt) => {
    const known = owned.attempts.find(({ n }) => n === attempt.n);
    const { verdict = known?.verdict, endedAt = known?.endedAt } = attempt;
    return { ...known, ...attempt, verdict, endedAt, cleared: attempt.cleared };
  });
}

/** All that was learned of the attempts, for the next durable move. */
export function endingsOf({ attempts, unfired }: Owned): readonly Ending[] {
  const endings: Ending[] = attempts.map(
    ({ epoch: _e, generation: _g, licence: _l, at: _a, ...ending }) => ending,
  );
  return unfired === undefined ? endings : [...endings, { n: unfired, unfired: true }];
}

/** An attempt that was noted, or may have been, and was not fired. */
export function forget(owned: Owned, n: number): void {
  owned.unfired = n;
  owned.attempts = owned.attempts.filter((attempt) => attempt.n !== n);
}

/** Keeps the newest of what two concurrent moves brought back. */
export function remember(owned: Owned, stored: Stored | undefined): void {
  if (stored && stored.version > owned.stored.version) owned.stored = stored;
}

/** Nobody knows yet, and somebody might. */
export const isInDoubt = ({ attempts, operation }: Owned): boolean =>
  operation.tool.readState !== undefined &&
  attempts.some((attempt) => !isCleared(attempt)) &&
  !attempts.some(({ verdict }) => verdict === "committed");

/** Passing trouble of proxies and load balancers, which nobody stores under a key. */
const IN_PASSING = new Set([408, 409, 425, 429, 502, 503, 504]);

/** The service gave the same failure to the same key again: it will go on doing so. */
function isKeySpent(attempts: readonly AttemptNote[], generation: number): boolean {
  const seen = new Set<number>();
  return attempts.some(({ verdict, status, replayed, ...attempt }) => {
    if (verdict !== "unknown" || status === undefined || status < 300) return false;
    if (attempt.generation !== generation) return false;
    if (replayed) return true;
    if (IN_PASSING.has(status)) return false;
    if (seen.has(status)) return true;
    seen.add(status);
    return false;
  });
}

export const powersOf = (tool: Tool): Powers => ({
  keyedForMs: tool.keyedForMs,
  conditional: tool.conditional,
  precondition: tool.precondition ? "read" : "given",
  reader: tool.readState !== undefined,
  commitsWithinMs: tool.commitsWithinMs,
  readerBlind: tool.learned.readerBlind,
  keyUnused: tool.learned.keyUnused,
  attemptTimeoutMs: tool.attemptTimeoutMs,
});

export function situationOf(owned: Owned, engine: Engine): Situation {
  const { operation, stored, flight } = owned;
  const { tool } = operation;
  return {
    powers: powersOf(tool),
    attempts: owned.attempts,
    epoch: owned.epoch,
    generation: stored.record.generation,
    look: owned.look,
    now: engine.ledger.clock.latest(),
    firesLeft: (engine.enlisted ? 1 : tool.attempts) - owned.fires,
    budget: engine.budgets.has(tool.service),
    sameArguments: stored.record.argsHash === operation.draft.argsHash,
    mayNotFire: owned.mayNotFire ?? (flight.stopped.aborted ? "stopped" : undefined),
    keySpent: isKeySpent(owned.attempts, stored.record.generation),
    fires: flight.fires,
  };
}
