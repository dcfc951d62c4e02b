/**
 * Whether the key is taken, and whether the service honours it.
 *
 * @module
 */

import { isDeepStrictEqual } from "node:util";
import type { Tool } from "../../engine/define/tool.ts";

import { effectOf } from "../../engine/outcome/result.ts";
import { broken, type Check, FAILS, HOLDS, UNTESTED } from "./check.ts";
import type { Trials } from "./trial.ts";

export function checkKeyTaken(trials: Trials, keyed: boolean): Check {
  const { sends } = trials.answered;
  if (sends.some(({ tookKey }) => tookKey)) return HOLDS("run took the key from its context");
  const untested = broken(trials);
  if (untested) return untested;
  return keyed
    ? FAILS("run never took the key, so the service cannot know it")
    : UNTESTED("run does not take the key, and nothing rests on it");
}

/** Counted by the service's books, else by the reader, else by the results. */
export function checkKeyed(tool: Tool, trials: Trials): readonly Check[] {
  const { answered } = trials;
  const [first, second] = answered.sends;
  if (!first?.ended.ok) return [broken(trials) ?? UNTESTED("it never ran")];
  if (!first.tookKey) return [FAILS("run never took the key, so the service cannot know it")];
  if (!second) return [UNTESTED("the key was not sent again")];
  if (!second.ended.ok) return [FAILS(`the same key again got no result: ${second.ended.why}`)];
  const { effects, looks } = answered;
  const last = looks.at(-1);
  if (effects !== undefined) {
    return [
      effects === 1
        ? HOLDS("the same key twice made one effect")
        : FAILS(`the same key twice made ${effects} effects, by the service's books`),
    ];
  }
  if (last?.reading === "duplicated") return [FAILS("the same key twice made several effects")];
  const [one, two] = [first.ended.value, second.ended.value];
  const ids = tool.effect.id && [effectOf(tool, one).effectId, effectOf(tool, two).effectId];
  if (ids ? ids[0] !== ids[1] : !isDeepStrictEqual(one, two)) {
    return [FAILS("the same key twice gave two different results")];
  }
  if (last?.reading === "committed") return [HOLDS("the same key twice made one effect")];
  if (ids?.[0] !== undefined) return [HOLDS("the same key twice gave the same effect id")];
  return [UNTESTED("nothing can count the effects: give sandbox.countEffects")];
}
