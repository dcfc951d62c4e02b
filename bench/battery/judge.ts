/**
 * The judge. It knows no stack: it compares what was wanted with the service's own logs, what the callers were told,
 * and what the stack's records say in the end.
 *
 * @module
 */

import type { Said } from "./stack.ts";

/** What a person wants. Wishes for the same item are wanted once each. */
export interface Wish {
  readonly name: string;
  readonly item: string;
  /** Whether it ought to happen: not where the service declines it. */
  readonly isWanted: boolean;
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
  const items = [...new Set(evidence.wishes.map(({ item }) => item))];
  const groups = items.map((item) => judgeItem(item, evidence));
  const sum = (of: (score: ItemScore) => number): number =>
    groups.reduce((total, score) => total + of(score), 0);
  return {
    duplicates: sum(({ duplicates }) => duplicates),
    silentLosses: sum(({ silentLosses }) => silentLosses),
    untrueWords: sum(({ untrueWords }) => untrueWords),
    falseDedupes: sum(({ falseDedupes }) => falseDedupes),
    wantedNotDone: sum(({ wantedNotDone }) => wantedNotDone),
    leftUnknown: sum(({ leftUnknown }) => leftUnknown),
    extraSends: sum(({ extraSends }) => extraSends),
    arrivals: sum(({ arrivals }) => arrivals),
    effects: sum(({ effects }) => effects),
    answerMs: Math.max(0, ...evidence.told.map(({ ms }) => ms)),
  };
}

type ItemScore = Omit<Score, "answerMs">;

function judgeItem(item: string, evidence: Evidence): ItemScore {
  const wishes = evidence.wishes.filter((wish) => wish.item === item);
  const arrivals = evidence.arrivals.filter(({ intent }) => itemOf(intent) === item);
  const copies = copiesIn(arrivals);
  const effects = evidence.effects.filter(
    ({ intent, arrival }) => itemOf(intent) === item && !copies.has(arrival),
  );
  const wanted = wishes.filter(({ isWanted }) => isWanted).length;
  const there = effects.length;
  const missing = Math.max(0, wanted - there);

  const lastWords = wishes.map(({ name }) => lastWord(name, evidence));
  const toldDone = lastWords.filter((said) => said === "done").length;
  const emptyYes = Math.max(0, toldDone - there);
  // One of several equal wishes came true, and stands for the others too.
  const falseDedupes = wishes.length > 1 && there > 0 ? Math.min(emptyYes, missing) : 0;
  const sends = arrivals.filter(({ fault }) => !isClearNo(fault)).length - copies.size;
  const unheard = lastWords.filter((said) => said === undefined).length;

  return {
    duplicates: Math.max(0, there - wanted),
    silentLosses: unheard + (emptyYes - falseDedupes),
    untrueWords: emptyYes - falseDedupes + falseNos(wishes, arrivals, effects, evidence),
    falseDedupes,
    wantedNotDone: missing,
    leftUnknown: lastWords.filter((said) => said === "unknown").length,
    extraSends: Math.max(0, sends - wishes.length),
    arrivals: arrivals.length - copies.size,
    effects: there,
  };
}

/** What the stack's records say in the end; without records, what the caller heard last. */
const lastWord = (name: string, { told, standing }: Evidence): Said | undefined =>
  standing[name] ?? told.filter(({ wish }) => wish === name).at(-1)?.said;

/** How often a caller heard of a failure after the request had arrived whose effect came about, then or later. */
function falseNos(
  wishes: readonly Wish[],
  arrivals: readonly LoggedWrite[],
  effects: readonly LoggedOutcome[],
  { told, standing }: Evidence,
): number {
  const arrivedAt = new Map(arrivals.map(({ seq, at }) => [seq, at]));
  const isDone = ({ name }: Wish): boolean =>
    told.some(({ wish, said }) => wish === name && said === "done");
  const isFalse = (name: string, at: number): boolean => {
    const others = wishes.filter((wish) => wish.name !== name && isDone(wish)).length;
    const before = effects.filter(({ arrival }) => (arrivedAt.get(arrival) ?? 0) <= at).length;
    return before > others;
  };
  const names = new Set(wishes.map(({ name }) => name));
  const heard = told.filter(
    ({ wish, said, at }) => names.has(wish) && said === "failed" && isFalse(wish, at),
  );
  const inRecords = [...names].filter(
    (name) =>
      standing[name] === "failed" &&
      isFalse(name, Number.POSITIVE_INFINITY) &&
      !heard.some(({ wish }) => wish === name),
  );
  return heard.length + inRecords.length;
}

/** The service, or what stands before it, answered that it did nothing: a status from 400 to 499. */
const isClearNo = (fault: LoggedFault | undefined): boolean =>
  fault !== undefined &&
  (fault.tag === "stored_failure" || fault.tag === "status") &&
  fault.commit !== true &&
  (fault.status ?? 500) < 500;

/** The second of each pair that the network made of one request. */
function copiesIn(arrivals: readonly LoggedWrite[]): ReadonlySet<number> {
  const doubled = arrivals.filter(({ fault }) => fault?.tag === "duplicate_delivery");
  return new Set(doubled.filter((_, index) => index % 2 === 1).map(({ seq }) => seq));
}

function itemOf(intent: unknown): string | undefined {
  return typeof intent === "object" && intent !== null && "item" in intent
    ? String(intent.item)
    : undefined;
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
