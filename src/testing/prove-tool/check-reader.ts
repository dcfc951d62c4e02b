/**
 * Whether the reader sees what is there, and nothing else.
 *
 * @module
 */

import { broken, type Check, FAILS, HOLDS, ms, NEEDS_CUTS, said, spoiled } from "./check.ts";
import type { Trials } from "./trial.ts";
import { isFound, type Look } from "./watch.ts";

export function checkReader(trials: Trials): readonly Check[] {
  const { neverSent, answered, lostReply, lostRequest, lostEarly } = trials;
  const untested = broken(trials);
  if (untested) return [untested];
  const ids = new Map<string, number>();
  for (const trial of [answered, lostReply, lostRequest, lostEarly]) {
    const id = trial?.looks.findLast(({ effectId }) => effectId !== undefined)?.effectId;
    if (id !== undefined) ids.set(id, (ids.get(id) ?? 0) + 1);
  }
  return [
    neverSent?.reading === "absent"
      ? HOLDS("it says absent of what was never sent")
      : FAILS(`of a key that was never sent it says ${said(neverSent)}`),
    found(answered.looks, "an effect that was answered"),
    againstBooks(answered.looks, answered.effects),
    [...ids.values()].some((times) => times > 1)
      ? FAILS("it gives one effect to two operations: found is not mine")
      : HOLDS("it takes no effect for another"),
    checkLostRequest(trials),
    checkLostReply(trials),
  ];
}

function checkLostRequest({ lostRequest }: Trials): Check {
  const untested = lostRequest ? spoiled(lostRequest, false) : NEEDS_CUTS;
  if (untested) return untested;
  const wrong = lostRequest?.looks.find(({ reading }) => reading !== "absent");
  return wrong
    ? FAILS(`of a request that never arrived it says ${said(wrong)}`)
    : HOLDS("it says absent of what never arrived");
}

function checkLostReply({ lostReply }: Trials): Check {
  const untested = lostReply ? spoiled(lostReply, true) : NEEDS_CUTS;
  if (untested) return untested;
  const { looks = [], effects } = lostReply ?? {};
  const there = found(looks, "an effect whose reply was lost");
  if (there.holds !== true) return there;
  const books = againstBooks(looks, effects);
  if (books.holds === false) return books;
  return looks.at(-1)?.reading === "duplicated" && effects === undefined
    ? FAILS("it finds several effects of a request that was made once")
    : HOLDS("it finds what a lost reply left behind, and nothing where nothing is");
}

function found(looks: readonly Look[], what: string): Check {
  const last = looks.at(-1);
  return last && isFound(last)
    ? HOLDS(`it finds ${what}`)
    : FAILS(`of ${what} it still says ${said(last)} after ${ms(last?.afterMs ?? 0)}`);
}

function againstBooks(looks: readonly Look[], effects: number | undefined): Check {
  const reading = looks.at(-1)?.reading;
  if (effects === undefined) return HOLDS("there are no books to compare with");
  const wrong =
    (reading === "committed" && effects !== 1) || (reading === "duplicated" && effects < 2);
  return wrong
    ? FAILS(`it says ${reading}, and by the service's books there are ${effects} effects`)
    : HOLDS("it agrees with the service's books");
}
