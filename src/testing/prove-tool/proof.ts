/**
 * What a proof says: a verdict on each claim, and all of them as text. Pure.
 *
 * A claim holds only if everything that could have refuted it was tried; what could not be tried
 * leaves it untested.
 *
 * @module
 */

import type { Tool } from "../../engine/define/tool.ts";
import {
  type Check,
  checkKeyed,
  checkKeyTaken,
  checkReader,
  checkSentOnce,
  checkWindow,
  said,
  UNTESTED,
} from "./checks.ts";
import { isFound } from "./read-probe.ts";
import type { Trials } from "./trial.ts";

/** What a tool's definition says of its service. */
export type Claim = "key_taken" | "keyed" | "readState" | "commitsWithinMs";

export interface ClaimVerdict {
  readonly claim: Claim;
  /** Whether the definition makes this claim at all. */
  readonly declared: boolean;
  readonly holds: true | false | "untested";
  /** One sentence for people. */
  readonly why: string;
  /** What was seen, e.g. `{ "answered.effects": 1 }`. */
  readonly evidence: Readonly<Record<string, string | number | boolean>>;
}

export interface Proof {
  readonly tool: string;
  /** Every claim that the definition makes was tested and holds. */
  readonly ok: boolean;
  readonly claims: readonly ClaimVerdict[];
  /** The same to print. */
  readonly text: string;
}

export function proofOf(tool: Tool, trials: Trials): Proof {
  const claims = judgeClaims(tool, trials);
  const made = claims.filter(({ declared }) => declared);
  const ok = made.every(({ holds }) => holds === true);
  const all = made.length === 0 ? "claims nothing" : ok ? "all claims hold" : "not proved";
  const text = [`${tool.name}: ${all}`, ...claims.map(line)].join("\n");
  return { tool: tool.name, ok, claims, text };
}

const WORDS = { true: "holds", false: "DOES NOT HOLD", untested: "untested" } as const;

const line = ({ claim, holds, why }: ClaimVerdict): string =>
  `  ${claim.padEnd("commitsWithinMs".length)}  ${WORDS[`${holds}`].padEnd("DOES NOT HOLD".length)}  ${why}`;

type Evidence = ClaimVerdict["evidence"];

function judgeClaims(tool: Tool, trials: Trials): readonly ClaimVerdict[] {
  const keyed = tool.keyedForMs !== undefined;
  const reader = tool.readState !== undefined;
  const within = tool.commitsWithinMs;
  const seen = evidenceOf(trials);
  const once = checkSentOnce(tool, trials);
  return [
    verdict("key_taken", keyed, [checkKeyTaken(trials, keyed)], seen),
    verdict("keyed", keyed, keyed ? checkKeyed(tool, trials) : NOT_DECLARED, seen),
    verdict("readState", reader, reader ? [...once, ...checkReader(trials)] : NOT_DECLARED, seen),
    verdict(
      "commitsWithinMs",
      within !== undefined,
      within === undefined ? NOT_DECLARED : [...once, ...checkWindow(trials, within, reader)],
      seen,
    ),
  ];
}

const NOT_DECLARED: readonly Check[] = [UNTESTED("the tool does not declare it")];

/** The worst check decides. */
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
    const last = trial.reads.at(-1);
    const lag = trial.reads.find(isFound)?.afterMs;
    note(`${name}.requests`, trial.requests);
    note(`${name}.status`, trial.status);
    note(`${name}.effects`, trial.effects);
    note(`${name}.reading`, last && said(last));
    note(`${name}.lagMs`, lag === undefined ? undefined : Math.ceil(lag));
  }
  return seen;
}
