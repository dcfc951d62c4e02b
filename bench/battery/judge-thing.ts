/**
 * The judge's look at one thing: how often it was wanted, how often it is there, and whether what was told of it is
 * true.
 *
 * @module
 */

import type { Evidence, LoggedFault, LoggedWrite, Score, Wish } from "./judge.ts";
import type { Said } from "./stack.ts";

export type ThingScore = Omit<Score, "answerMs">;

/** One thing that was wanted once or several times. */
export function judgeThing(evidence: Evidence): ThingScore {
  const { wishes, arrivals } = evidence;
  const copies = copiesIn(arrivals);
  const effects = evidence.effects.filter(({ arrival }) => !copies.has(arrival));
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
    untrueWords: emptyYes - falseDedupes + falseNos({ ...evidence, effects }),
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
function falseNos({ wishes, arrivals, effects, told, standing }: Evidence): number {
  const arrivedAt = new Map(arrivals.map(({ seq, at }) => [seq, at]));
  const isDone = ({ name }: Wish): boolean =>
    told.some(({ wish, said }) => wish === name && said === "done");
  const isFalse = (name: string, at: number): boolean => {
    const others = wishes.filter((wish) => wish.name !== name && isDone(wish)).length;
    const before = effects.filter(({ arrival }) => (arrivedAt.get(arrival) ?? 0) <= at).length;
    return before > others;
  };
  const names = new Set(wishes.map(({ name }) => name));
  const heard = told.filter(({ wish, said, at }) => said === "failed" && isFalse(wish, at));
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
