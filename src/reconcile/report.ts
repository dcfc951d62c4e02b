/**
 * What `hf.reconcile` is asked for, and what it reports. The work is in `src/reconcile`.
 *
 * @module
 */

import type { OperationFacts } from "../errors.ts";
import type { UnknownReason } from "../ledger/record.ts";

/** A tool by its name, or the tool itself. */
export type ToolChoice = string | { readonly toolName: string };

export interface ReconcileOptions {
  /** Only operations of these tools. @default all tools made by `hf.tool` */
  readonly tools?: readonly ToolChoice[] | undefined;
  /** How many operations to look at, at most. @default 1_000 */
  readonly limit?: number | undefined;
  /** Only operations whose state was reached at or after this time, in milliseconds. @default all */
  readonly since?: number | undefined;
  /**
   * Also send again what the service itself will recognise (keyed), with the arguments of the first
   * attempt, where these are all in the intent. @default false: only reads
   */
  readonly resend?: boolean | undefined;
  /** Takes up no more operations once it fires. Those under way are finished. */
  readonly signal?: AbortSignal | undefined;
  /** Hears of every operation that was dealt with. What it throws is ignored. */
  readonly onProgress?: ((progress: ReconcileProgress) => void) | undefined;
  /** Where an earlier report says that it stopped. */
  readonly cursor?: string | undefined;
}

/** How far it has come, in operations. */
export interface ReconcileProgress {
  readonly looked: number;
  readonly committed: number;
  readonly notApplied: number;
  readonly stillUnknown: number;
  /** Left alone: see the report. */
  readonly skipped: number;
}

/** An operation that is still open, and why. */
export interface StillUnknown extends OperationFacts {
  readonly scope: string;
  readonly reason: UnknownReason;
  /**
   * What kept it from being looked at or sent again: the tool has no `readState`; the intent is sealed
   * with a key that is not here; or arguments outside the intent, which the ledger does not keep, would
   * be needed to send it again.
   */
  readonly because?: "no_reader" | "intent_unreadable" | "arguments_not_kept" | undefined;
}

/** `looked` is the sum of `committed`, `notApplied` and those still unknown. */
export interface ReconcileReport {
  /** `"done"`: all of them; `"limit"`: `cursor` says where to go on; `"stopped"`: by signal or `close()`. */
  readonly ended: "done" | "limit" | "stopped";
  readonly looked: number;
  readonly committed: number;
  readonly notApplied: number;
  readonly stillUnknown: readonly StillUnknown[];
  /** How many writes were sent again, under the keyed licence. */
  readonly resent: number;
  /** What was left alone, in operations. */
  readonly skipped: {
    /** Somebody is at it, or was faster. */
    readonly busy: number;
    /** Of tools that this holdfire does not have, by name. */
    readonly noTool: Readonly<Record<string, number>>;
    /** Made by another version of the tool. */
    readonly otherVersion: number;
  };
  readonly cursor?: string | undefined;
}
