/**
 * The judge. It knows no stack: it compares what was wanted with the service's own logs, what the callers were told,
 * and what the stack's records say in the end.
 *
 * @module
 */

import { judgeThing, type ThingScore } from "./judge-thing.ts";
import type { Said } from "./stack.ts";

/** What a person wants. Wishes for the same item are wanted once each. */
export interface Wish {
  readonly name: string;
  readonly item: string;
  /** The amount, where the thing is told from others by it: a changed plan. @default 4_000 */
  readonly cents?: number | undefined;
  /** Whether it ought to happen: not where the service declines it. */
  readonly isWanted: boolean;
  /** Nobody asks for it any more: the plan has changed. */
  readonly isDropped?: boolean | undefined;
}

/** What a caller was told, and when. */
export interface Told {
  readonly wish: string;
  readonly said: Said;
  readonly words: string;
  readonly askAgain?: boolean | undefined;
  readonly at: number;
  readonly ms: number;
}

/** What the service logged of a write; the `seq` runs through arrivals and effects. */
export interface LoggedWrite {
  readonly seq: number;
  readonly at: number;
  readonly intent: unknown;
  /** What was done to it. */
  readonly fault?: LoggedFault | undefined;
}

export interface LoggedFault {
  readonly tag: string;
  readonly status?: number | undefined;
  readonly commit?: boolean | string | undefined;
}

export interface LoggedOutcome {
  readonly arrival: number;
  readonly intent: unknown;
}

export interface Evidence {
  readonly wishes: readonly Wish[];
  readonly told: readonly Told[];
  /** What the stack's records say of each wish in the end, where they say anything. */
  readonly standing: Readonly<Record<string, Said>>;
  readonly arrivals: readonly LoggedWrite[];
  readonly effects: readonly LoggedOutcome[];
}

export interface Score {
  /** Effects beyond those that were wanted. Copies made by the network itself are not the stack's. */
  readonly duplicates: number;
  /** Wishes without an effect of which the caller heard that it is done, or nothing at all and no record has it. */
  readonly silentLosses: number;
  /** Told as done without an effect, or as failed with one. */
  readonly untrueWords: number;
  /** A wanted second effect that was suppressed, and told as done. */
  readonly falseDedupes: number;
  /** Wanted and not there in the end, whatever was told. */
  readonly wantedNotDone: number;
  /** Wishes of which the last word is unknown. */
  readonly leftUnknown: number;
  /** Requests that arrived, beyond one for each wish, and that were not answered with a clear no. */
  readonly extraSends: number;
  readonly arrivals: number;
  readonly effects: number;
  /** How long the callers waited for an answer, in milliseconds: the longest. */
  readonly answerMs: number;
}

export function judge(evidence: Evidence): Score {
  const things = groupedBy(evidence.wishes, thingOf);
  const arrivals = groupedBy(evidence.arrivals, ({ intent }) => thingOf(intent));
  const effects = groupedBy(evidence.effects, ({ intent }) => thingOf(intent));
  const told = groupedBy(evidence.told, ({ wish }) => wish);
  const groups = [...things].map(([thing, wishes]) =>
    judgeThing({
      wishes,
      told: wishes.flatMap(({ name }) => told.get(name) ?? []),
      standing: evidence.standing,
      arrivals: arrivals.get(thing) ?? [],
      effects: effects.get(thing) ?? [],
    }),
  );
  // What nobody has asked for is one too many, whatever it is.
  const unasked = evidence.effects.filter(({ intent }) => !things.has(thingOf(intent))).length;
  const sum = (of: (score: ThingScore) => number): number =>
    groups.reduce((total, score) => total + of(score), 0);
  return {
    duplicates: unasked + sum(({ duplicates }) => duplicates),
    silentLosses: sum(({ silentLosses }) => silentLosses),
    untrueWords: sum(({ untrueWords }) => untrueWords),
    falseDedupes: sum(({ falseDedupes }) => falseDedupes),
    wantedNotDone: sum(({ wantedNotDone }) => wantedNotDone),
    leftUnknown: sum(({ leftUnknown }) => leftUnknown),
    extraSends: sum(({ extraSends }) => extraSends),
    arrivals: sum(({ arrivals }) => arrivals),
    effects: sum(({ effects }) => effects),
    answerMs: evidence.told.reduce((longest, { ms }) => Math.max(longest, ms), 0),
  };
}

/** What a wish and the request for it have in common. */
function thingOf(about: unknown): string | undefined {
  if (typeof about !== "object" || about === null || !("item" in about)) return undefined;
  return `${about.item}, ${"cents" in about ? about.cents : undefined}`;
}

function groupedBy<T, K>(all: readonly T[], by: (one: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const one of all) {
    const group = groups.get(by(one));
    if (group) group.push(one);
    else groups.set(by(one), [one]);
  }
  return groups;
}

/** What a cell shows: the worst that happened in it. */
export type Verdict =
  | "ok"
  | "left_unknown"
  | "not_done"
  | "false_dedupe"
  | "untrue"
  | "lost"
  | "duplicate";

export function verdictOf(score: Score): Verdict {
  if (score.duplicates > 0) return "duplicate";
  if (score.silentLosses > 0) return "lost";
  if (score.untrueWords > 0) return "untrue";
  if (score.falseDedupes > 0) return "false_dedupe";
  if (score.wantedNotDone > 0) return "not_done";
  return score.leftUnknown > 0 ? "left_unknown" : "ok";
}
