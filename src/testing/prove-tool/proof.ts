/**
 * What a proof says: a verdict on each claim, and all of them as text.
 *
 * @module
 */

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

export function proofOf(tool: string, claims: readonly ClaimVerdict[]): Proof {
  const made = claims.filter(({ declared }) => declared);
  const ok = made.every(({ holds }) => holds === true);
  const all = made.length === 0 ? "claims nothing" : ok ? "all claims hold" : "not proved";
  const text = [`${tool}: ${all}`, ...claims.map(line)].join("\n");
  return { tool, ok, claims, text };
}

const WORDS = { true: "holds", false: "DOES NOT HOLD", untested: "untested" } as const;

const line = ({ claim, holds, why }: ClaimVerdict): string =>
  `  ${claim.padEnd("commitsWithinMs".length)}  ${WORDS[`${holds}`].padEnd("DOES NOT HOLD".length)}  ${why}`;
