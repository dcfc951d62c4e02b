/**
 * The options and the report of `hf.reconcile`, and the counts from which the report is made.
 *
 * @module
 */

import type { OperationFacts } from "../errors.ts";
import type { UnknownReason } from "../reasons.ts";
import type { ToolChoice } from "./options.ts";

export interface ReconcileOptions {
  /** Only operations of these tools. @default all tools made by `hf.tool` */
  readonly tools?: readonly ToolChoice[] | undefined;
  /** Only these operations, by their ids, at most as many as `limit`. @default all */
  readonly ids?: readonly string[] | undefined;
  /** How many operations to check at most. @default 1_000 */
  readonly limit?: number | undefined;
  /** Only operations whose state was reached at or after this time, in milliseconds. @default all */
  readonly since?: number | undefined;
  /**
   * Also sends again what the service itself recognises (licence `keyed`), with the arguments of the
   * first attempt, if these are all in the intent. @default false: only reads
   */
  readonly resend?: boolean | undefined;
  /** Starts no further operation once it fires. Operations under way are finished. */
  readonly signal?: AbortSignal | undefined;
  /** Called after every operation that was checked. What it throws is ignored. */
  readonly onProgress?: ((progress: ReconcileProgress) => void) | undefined;
  /** Where an earlier report stopped: its `cursor`. */
  readonly cursor?: string | undefined;
}

/** The progress of a pass, in operations. */
export interface ReconcileProgress {
  readonly checked: number;
  readonly committed: number;
  readonly notApplied: number;
  readonly stillUnknown: number;
  /** Not checked: see the report. */
  readonly skipped: number;
}

/** An operation that is still open, and why. */
export interface StillUnknown extends OperationFacts {
  readonly scope: string;
  readonly reason: UnknownReason;
  /**
   * Why it could not be read or sent again: the tool has no `readState`; the intent is encrypted with a
   * key that this process does not have; sending again needs arguments outside the intent, which the
   * ledger does not keep; or tools of this name were made by several functions, and not found is no proof.
   */
  readonly because?:
    | "no_reader"
    | "intent_unreadable"
    | "arguments_not_kept"
    | "several_tools"
    | undefined;
}

/** `checked` is the sum of `committed`, `notApplied` and those still unknown. */
export interface ReconcileReport {
  /** `"done"`: all of them; `"limit"`: `cursor` says where to continue; `"stopped"`: by signal or `close()`. */
  readonly ended: "done" | "limit" | "stopped";
  readonly checked: number;
  readonly committed: number;
  readonly notApplied: number;
  readonly stillUnknown: readonly StillUnknown[];
  /** How many writes were sent again, under the licence `keyed`. */
  readonly resent: number;
  /** What was not checked, in operations. */
  readonly skipped: {
    /** Another process owns it, or settled it first. */
    readonly busy: number;
    /** Operations of tools that this holdfire does not have, by name. */
    readonly noTool: Readonly<Record<string, number>>;
    /** Made by another program (`app`): its tools of the same names may be of other accounts. */
    readonly otherApp: number;
    /** Made by another version of the tool. */
    readonly otherVersion: number;
    /** Their records are damaged: each is told by the event `store`, status `"unreadable"`. */
    readonly unreadable: number;
  };
  readonly cursor?: string | undefined;
}

/** What became of one operation in a pass. */
export type Reconciled =
  | { readonly tag: "busy" }
  | { readonly tag: "committed" | "not_applied"; readonly resent: number }
  | { readonly tag: "unknown"; readonly operation: StillUnknown; readonly resent: number };

/** The counts of a pass so far. */
export interface Tally {
  add(settled: Reconciled): void;
  noTool(name: string): void;
  otherApp(): void;
  otherVersion(): void;
  unreadable(count: number): void;
  progress(): ReconcileProgress;
  report(): Omit<ReconcileReport, "ended" | "cursor">;
}

export function createTally(): Tally {
  const stillUnknown: StillUnknown[] = [];
  const noTool = new Map<string, number>();
  const count = { committed: 0, not_applied: 0, busy: 0, resent: 0 };
  const skipped = { noTool: 0, otherApp: 0, otherVersion: 0, unreadable: 0 };
  const checked = () => ({
    checked: count.committed + count.not_applied + stillUnknown.length,
    committed: count.committed,
    notApplied: count.not_applied,
  });
  return {
    add(settled) {
      if (settled.tag === "unknown") stillUnknown.push(settled.operation);
      else count[settled.tag] += 1;
      if (settled.tag !== "busy") count.resent += settled.resent;
    },
    noTool(name) {
      skipped.noTool += 1;
      noTool.set(name, (noTool.get(name) ?? 0) + 1);
    },
    otherApp() {
      skipped.otherApp += 1;
    },
    otherVersion() {
      skipped.otherVersion += 1;
    },
    unreadable(found) {
      skipped.unreadable += found;
    },
    progress: () => ({
      ...checked(),
      stillUnknown: stillUnknown.length,
      skipped:
        count.busy + skipped.noTool + skipped.otherApp + skipped.otherVersion + skipped.unreadable,
    }),
    report: () => ({
      ...checked(),
      stillUnknown,
      resent: count.resent,
      skipped: {
        ...skipped,
        busy: count.busy,
        noTool: Object.fromEntries(noTool),
      },
    }),
  };
}
