/**
 * What `hf.driftReport` is asked for, and what it reports. The work is in `src/reconcile`.
 *
 * @module
 */

import type { OperationFacts } from "../errors.ts";
import type { ToolChoice } from "./report.ts";

export interface DriftOptions {
  /** Only these tools. @default all tools made by `hf.tool` */
  readonly tools?: readonly ToolChoice[] | undefined;
  /** From when on, in milliseconds since the epoch. @default 24 hours ago */
  readonly since?: number | undefined;
  /** Up to when. @default now */
  readonly until?: number | undefined;
  /** How many committed operations to ask readers about, at most. @default 1_000 */
  readonly limit?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hears of every operation that was looked at. What it throws is ignored. */
  readonly onProgress?: ((progress: DriftProgress) => void) | undefined;
}

/** How far it has come. */
export interface DriftProgress {
  readonly looked: number;
  readonly findings: number;
}

interface OfCommitted extends OperationFacts {
  readonly scope: string;
  /** The service's id of the effect, as the ledger has it. */
  readonly effectId?: string | undefined;
}

/** What the world says otherwise than the ledger. Nothing is repaired. */
export type DriftFinding =
  /** It was committed, and the reader says that it is not there. */
  | (OfCommitted & { readonly finding: "gone" })
  /** It is there more than once. */
  | (OfCommitted & { readonly finding: "duplicated"; readonly count: number })
  /** `sameEffect` says no, or another effect is found in its place. */
  | (OfCommitted & {
      readonly finding: "changed";
      readonly foundEffectId?: string | undefined;
    })
  /** Listed by the service, and of no operation in the ledger. */
  | {
      readonly finding: "foreign";
      readonly tool: string;
      readonly service: string;
      readonly effectId: string;
      /** The key it was sent under, and when, as far as `listEffects` told. */
      readonly key?: string | undefined;
      readonly at?: number | undefined;
      /** How many operations of the service are open: it may be of one of these. */
      readonly openOperations: number;
    };

/** An operation that could not be compared. */
export interface NotCompared extends OperationFacts {
  /**
   * `"intent_not_kept"`: the reader takes the intent, which is wiped once an operation is settled;
   * `"reader_blind"`: an absence proves nothing; `"too_fresh"`: within `commitsWithinMs`;
   * `"other_version"`: made by another version of the tool; or what the reader said.
   */
  readonly why: string;
}

/** What was looked at of one tool. */
export interface DriftCoverage {
  readonly tool: string;
  /** By `readState`: gone, duplicated. */
  readonly effects: "looked" | "not looked";
  /** By `sameEffect`: changed. */
  readonly changes: "looked" | "not looked";
  /** By `listEffects`: foreign. `"cannot tell"`: it failed, hung, or returned nonsense or too much. */
  readonly foreign: "looked" | "not looked" | "cannot tell";
}

export interface DriftReport {
  /** `"limit"`: there are more committed operations in this span; ask for a shorter one. */
  readonly ended: "done" | "limit" | "stopped";
  readonly since: number;
  readonly until: number;
  /** Committed operations that a reader was asked about. */
  readonly looked: number;
  /** Each fact once. */
  readonly findings: readonly DriftFinding[];
  readonly notCompared: readonly NotCompared[];
  readonly tools: readonly DriftCoverage[];
}
