/**
 * Whether a storm was weathered, and whether it was one: a storm in which nobody was killed proves nothing.
 *
 * @module
 */

import type { StormOptions } from "./options.ts";
import type { Storm } from "./storm.ts";

/** How many requests may arrive for each effect. */
export const MOST_ATTEMPTS = 1.35;

const LOSSES = ["commit_then_reset", "hang_up", "reset_before", "status", "black_hole"];

/** A sentence for each thing that is wrong. */
export function problemsOf(storm: Storm, { intents, processes }: StormOptions): readonly string[] {
  const { score, attemptsPerEffect, kills, cutOff, leftOpen, faults, answers } = storm;
  const problems: string[] = [];
  const must = (isTrue: boolean, problem: string): void => {
    if (!isTrue) problems.push(problem);
  };
  must(score.effects === intents, `${score.effects} effects of ${intents} intents`);
  must(score.duplicates === 0, `${score.duplicates} duplicates`);
  must(score.silentLosses === 0, `${score.silentLosses} lost`);
  must(score.untrueWords === 0, `${score.untrueWords} untrue words`);
  must(score.falseDedupes === 0, `${score.falseDedupes} false dedupes`);
  must(score.wantedNotDone === 0, `${score.wantedNotDone} not done`);
  must(score.leftUnknown === 0, `${score.leftUnknown} left unknown`);
  must(
    attemptsPerEffect <= MOST_ATTEMPTS,
    `${attemptsPerEffect.toFixed(3)} requests an effect, more than ${MOST_ATTEMPTS}`,
  );
  must(kills >= processes, `only ${kills} kills of ${processes} processes: no storm`);
  must(cutOff > 0, "no call was cut off by a kill: no storm");
  must(leftOpen > 0, "nothing was left to the survivors: no storm");
  must(answers > intents, "nothing was asked for twice: no storm");
  for (const tag of LOSSES) must((faults[tag] ?? 0) > 0, `no request met ${tag}: no storm`);
  return problems;
}
