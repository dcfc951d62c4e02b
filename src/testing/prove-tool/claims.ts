/**
 * From what the trials showed to a verdict on each claim, pure.
 *
 * A claim holds only if everything that could have refuted it was tried; what could not be tried
 * leaves it untested.
 *
 * @module
 */

import type { Tool } from "../../engine/define/tool.ts";
import { type Check, said, UNTESTED } from "./check.ts";
import { checkKeyed, checkKeyTaken } from "./check-key.ts";
import { checkReader } from "./check-reader.ts";
import { checkWindow } from "./check-window.ts";
import type { Claim, ClaimVerdict } from "./proof.ts";
import type { Trials } from "./trial.ts";
import { isFound } from "./watch.ts";

type Evidence = ClaimVerdict["evidence"];

export function judgeClaims(tool: Tool, trials: Trials): readonly ClaimVerdict[] {
  const keyed = tool.keyedForMs !== undefined;
  const reader = tool.readState !== undefined;
  const within = tool.commitsWithinMs;
  const seen = evidenceOf(trials);
  return [
    verdict("key_taken", keyed, [checkKeyTaken(trials, keyed)], seen),
    verdict("keyed", keyed, keyed ? checkKeyed(tool, trials) : NOT_DECLARED, seen),
    verdict("readState", reader, reader ? checkReader(trials) : NOT_DECLARED, seen),
    verdict(
      "commitsWithinMs",
      within !== undefined,
      within === undefined ? NOT_DECLARED : checkWindow(trials, within, reader),
      seen,
    ),
  ];
}

const NOT_DECLARED: readonly Check[] = [UNTESTED("the tool does not declare it")];

/** The worst check speaks. */
function verdict(
  claim: Claim,
  declared: boolean,
  checks: readonly Check[],
  evidence: Evidence,
): ClaimVerdict {
  const worst =
    checks.find(({ holds }) => holds === false) ??
    checks.find(({ holds }) => holds === "untested") ??
    checks.at(-1) ??
    UNTESTED("nothing was tried");
  return { claim, declared, ...worst, evidence };
}

function evidenceOf(trials: Trials): Evidence {
  const { neverSent, ...tried } = trials;
  const seen: Record<string, string | number | boolean> = {};
  const note = (name: string, value: string | number | boolean | undefined) => {
    if (value !== undefined) seen[name] = value;
  };
  note("neverSent.reading", neverSent && said(neverSent));
  for (const [name, trial] of Object.entries(tried)) {
    if (!trial) continue;
    const last = trial.looks.at(-1);
    const lag = trial.looks.find(isFound)?.afterMs;
    note(`${name}.requests`, trial.requests);
    note(`${name}.status`, trial.status);
    note(`${name}.effects`, trial.effects);
    note(`${name}.reading`, last && said(last));
    note(`${name}.lagMs`, lag === undefined ? undefined : Math.ceil(lag));
  }
  return seen;
}
