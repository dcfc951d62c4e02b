/**
 * Situations for `decide`, with only what matters said by the test.
 *
 * @module
 */

import type { Powers, Situation, StateRead } from "../../src/engine/steps/parts/decide.ts";
import type { AttemptNote } from "../../src/ledger/record.ts";

/** The n-th attempt: sent at `n * 1_000`, ended half a second later, and nobody knows how. */
export const attemptOf = (n: number, rest: Partial<AttemptNote> = {}): AttemptNote => ({
  n,
  epoch: 1,
  generation: 0,
  licence: n === 1 ? "first" : "keyed",
  at: n * 1_000,
  endedAt: n * 1_000 + 500,
  verdict: "unknown",
  declared: { keyed: true, conditional: true },
  ...rest,
});

/** A tool that is neither keyed nor readable. */
export const NOTHING: Powers = {
  keyedForMs: undefined,
  conditional: false,
  precondition: "read",
  reader: false,
  commitsWithinMs: undefined,
  readerBlind: false,
  keyUnused: false,
  attemptTimeoutMs: 10_000,
};

export const KEYED: Powers = { ...NOTHING, keyedForMs: 86_400_000 };
export const CONDITIONAL: Powers = { ...NOTHING, conditional: true };
/** May conclude from an absence two seconds after the end. */
export const READABLE: Powers = { ...NOTHING, reader: true, commitsWithinMs: 2_000 };

export const looked = (reading: StateRead["reading"], beganAt = 1_600): StateRead => ({
  reading,
  beganAt,
  wall: beganAt,
});

/** One attempt whose reply was lost, by a tool with these powers. */
export const situation = (rest: Partial<Situation> = {}): Situation => ({
  powers: NOTHING,
  attempts: [attemptOf(1)],
  epoch: 1,
  generation: 0,
  lastRead: undefined,
  now: 2_000,
  wall: 2_000,
  failedUntried: false,
  firesLeft: 2,
  awaitsRun: false,
  sameArguments: true,
  whyNotFire: undefined,
  keySpent: false,
  fireMode: "freely",
  ...rest,
});
