/**
 * What is asked of a database in a transaction, and what it answers. Plain data: it may go to another
 * thread.
 *
 * @module
 */

import type { LeaseChange, PruneQuery } from "../../ledger/store.ts";
import type { ReadRow, Row } from "./row.ts";

/** Where an operation is found. */
export interface Place {
  readonly tenant: string;
  readonly id: string;
  readonly hash: number;
}

export interface LaneRow {
  readonly text: string;
  readonly version: number;
}

export interface SwapJob extends Place {
  readonly kind: "swap";
  readonly expect: number;
  /** `undefined` removes the record. */
  readonly row: Row | undefined;
  readonly lease: LeaseChange;
  readonly lane:
    | { readonly name: string; readonly expect: number; readonly text: string | undefined }
    | undefined;
}

export interface OwnJob {
  readonly kind: "own";
  readonly tenant: string;
  readonly service: string;
  readonly effect: string;
  readonly owner: string;
}

export interface PruneJob {
  readonly kind: "prune";
  readonly query: PruneQuery;
  /** How many records to touch at most, in this transaction. */
  readonly limit: number;
}

export type Job = SwapJob | OwnJob | PruneJob;

export type SwapDone =
  | {
      readonly ok: true;
      readonly version: number;
      readonly lease: number | null;
      readonly sequence: number;
      readonly now: number;
    }
  | {
      readonly ok: false;
      readonly current: ReadRow | undefined;
      /** Set when it was the lane that had changed; `"gone"` if there is none. */
      readonly lane: LaneRow | "gone" | undefined;
      readonly now: number;
    };

export interface PruneDone {
  readonly payloads: number;
  readonly tombstones: number;
  /** The records that were touched. */
  readonly ids: readonly string[];
}

/** What each kind of job comes to. */
export type Value<J extends Job> = J extends SwapJob
  ? SwapDone
  : J extends OwnJob
    ? string
    : PruneDone;

/** One job's end. A failed one has changed nothing, and does not touch its neighbours. */
export type Done =
  | { readonly ok: true; readonly value: Value<Job> }
  | { readonly ok: false; readonly failure: Failure };

/** An error without its class, which does not survive the way between threads. */
export interface Failure {
  readonly message: string;
  /** SQLite's extended result code. */
  readonly errcode: number | undefined;
}

/** A whole batch's end. `busy`: another process writes; nothing was done. */
export type Committed =
  | { readonly tag: "done"; readonly done: readonly Done[] }
  | { readonly tag: "busy"; readonly failure: Failure };
