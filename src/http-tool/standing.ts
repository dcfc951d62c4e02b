/**
 * What the state of a thing that was found says of the wish behind it: found is not done.
 *
 * @module
 */

import {
  absent,
  cannotTell,
  committed,
  duplicated,
  inProgress,
  type Reading,
} from "../engine/define/reading.ts";

/**
 * `done`: it is what was wanted. `in_progress`: the service is at it. `declined`: it is there, and nothing happened, as with
 * a card that was declined. `open`: a person must act on it, or has undone it; no second one is made.
 */
export type Standing = "done" | "in_progress" | "declined" | "open";

export interface Found<R> {
  /** Things that are this operation's own. */
  readonly results: readonly R[];
  /** Why a thing that was not found may be there all the same; `undefined`: it would have been found. */
  readonly unsure?: string | undefined;
}

/** What all of them say together. One that was declined is as if it was not there. */
export function readingByStanding<R>(
  { results, unsure }: Found<R>,
  standingOf: (result: R) => Standing,
  idOf: (result: R) => string | undefined,
): Reading<R> {
  const distinct = [
    ...new Map(results.map((one) => [idOf(one) ?? JSON.stringify(one), one])).values(),
  ];
  const withStanding = (standing: Standing) =>
    distinct.filter((one) => standingOf(one) === standing);
  const done = withStanding("done");
  const [first] = done;
  if (first !== undefined) {
    return done.length > 1 ? duplicated(done) : committed(first, { effectId: idOf(first) });
  }
  if (withStanding("in_progress").length > 0) return inProgress();
  const [open] = withStanding("open");
  if (open !== undefined) return cannotTell(`${idOf(open) ?? "it"} is there, and is not done`);
  return unsure === undefined ? absent() : cannotTell(unsure);
}
