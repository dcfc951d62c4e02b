/**
 * What every step of a call works with: the parts wired in `create.ts`, and no optional fields. Also the contract of the
 * gate (`Gate`, `Visit`, `Admission`), which `src/gate` fulfils, and work that `close` waits for.
 *
 * @module
 */

import type { Canonical } from "../key/canonical.ts";
import type { Clock } from "../lang/clock.ts";
import type { Pending } from "../lang/pending.ts";
import type { Codec } from "../ledger/codec/codec.ts";
import type { Ledger, Moved } from "../ledger/ledger.ts";
import type { Stored } from "../ledger/record.ts";
import type { LaneChange, StoredLane } from "../ledger/store.ts";
import type { Events } from "../observe/events.ts";
import type { Budgets } from "./budget.ts";
import type { CalledBy } from "./called-by.ts";
import type { Registry } from "./define/define-tool.ts";
import type { PlannedCall } from "./define/planned-call.ts";
import type { OnHiddenRetry, Timing } from "./define/settings.ts";
import type { Tool } from "./define/tool.ts";
import type { LiveOperations } from "./live-operations.ts";
import type { Caller, Execution, NamedCallOptions, Operation } from "./operation/operation.ts";
import type { Persist } from "./store-call.ts";

export interface Engine {
  /** The program, as part of every key; `undefined` if the user did not name it. */
  readonly app: string | undefined;
  readonly tenant: string;
  readonly ledger: Ledger;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly events: Events;
  /** In [0, 1). */
  readonly random: () => number;
  readonly newId: () => string;
  readonly timing: Timing;
  /** Where the store gets no more time than a call has left (`withinDeadline`): how much that is. */
  readonly callLeftMs: (() => number) | undefined;
  readonly gate: Gate;
  readonly budgets: Budgets;
  readonly onHiddenRetry: OnHiddenRetry;
  /** What this process knows of the tenant. One tenant's tools say nothing of another's. */
  readonly tenantState: TenantState;
  /** Warnings that are given once for all tenants, and were. */
  readonly warned: { noApp: boolean };
  /** By which tool this process called an operation. */
  readonly calledBy: CalledBy;
  /** The executions and attempts of this process that have not ended. */
  readonly live: LiveOperations;
  /** Attempts in doubt that ended in this process not long ago, and when on its monotonic clock; by operation id. */
  readonly endedHere: Map<string, readonly { readonly n: number; readonly at: number }[]>;
  /** Writes the outcomes that callers were told while the store was down, by operation id, until one has got through. */
  readonly unrecorded: Map<string, () => Promise<Moved>>;
  /** Tries a durable move until the store has answered. */
  readonly persist: Persist;
  /** Commits join a transaction of the user's: one attempt, and no request leaves. */
  readonly enlisted: boolean;
  /** Makes that transaction impossible to commit; without one it does nothing. */
  readonly spoil: () => Promise<void>;
  readonly isClosed: () => boolean;
  /** What `close` waits for: calls, executions, and work that goes on after them. */
  readonly pending: Pending;
}

export interface TenantState {
  /** Tools made by `hf.tool`, by name: these can be read without a caller. */
  readonly tools: Map<string, Tool>;
  /** Names of those that were made several times, by other functions: the last one may look into another's account. */
  readonly rebuilt: Set<string>;
  readonly registry: Registry;
  /** Intents met of late, to notice two that differ only in a uuid or a timestamp. */
  readonly seen: Map<string, string>;
  /** What was found for operations in doubt, without the key, and when it was first found; by operation id. */
  readonly found: Map<string, { readonly effectId: string; readonly at: number }>;
  /** Decisions of people that listeners of this process have heard of. */
  readonly heard: Set<string>;
  /** `hf.reconcile` was called in this process: what can be read is being checked. */
  reconciles: boolean;
}

export const newTenant = (): TenantState => ({
  tools: new Map(),
  rebuilt: new Set(),
  registry: new Map(),
  seen: new Map(),
  found: new Map(),
  heard: new Set(),
  reconciles: false,
});

/** The interface to people and lanes: what stands between an operation and its claim. Made in `src/gate`. */
export interface Gate {
  /** Asked before each claim. Must send nothing. Answers at once where nothing has to be asked. */
  admit(execution: Execution, engine: Engine, visit: Visit): Admission | Promise<Admission>;
  /** Tells of a call without making it. */
  plan(
    tool: Tool,
    args: Canonical,
    options: NamedCallOptions,
    caller: Caller,
    engine: Engine,
  ): Promise<PlannedCall>;
  /** A caller is about to be told that the outcome is open. Never throws. */
  toldOpen(operation: Operation, engine: Engine): Promise<void>;
  /** The claim is not made after all: gives back what admission has taken. */
  leave(execution: Execution, engine: Engine, visit: Visit): void;
}

/** `close` waits for it. */
export function underWay<T>({ pending }: Engine, work: Promise<T>): Promise<T> {
  pending.begin();
  work.then(pending.end, pending.end);
  return work;
}

/** Runs on after the call; `close` waits for it, and it never rejects unhandled. */
export function inBackground(engine: Engine, work: () => Promise<unknown>): void {
  void underWay(
    engine,
    work().catch((error: unknown) =>
      engine.events.emit("store", () => ({ status: "error", step: "background", error })),
    ),
  );
}

/** What one claim has met so far, kept between one question to the gate and the next. */
export interface Visit {
  /** What it has waited for, as the store said it last: told where the store does not answer any more. */
  waitedFor?: WaitedFor | undefined;
  /** The lane as the store said it was, when the claim found another. */
  lane?: StoredLane | undefined;
  /**
   * The record, as it was then. Where a store changes a lane and a record apart, a try on another record than there is has taken
   * the lane all the same: made again on the same guess, it would find the lane changed each time.
   */
  guess?: Stored | undefined;
  /** The claim found that a person is asked about the operation. */
  held?: boolean | undefined;
  /** Until when it waits for its lane, on the monotonic clock. */
  waitUntil?: number | undefined;
  /** When its ticket in the lane's queue runs out, on the ledger's clock. */
  ticketUntil?: number | undefined;
}

export type WaitedFor =
  | { readonly status: "in_progress" }
  | {
      readonly status: "held";
      readonly reason: "lane";
      readonly resource: string;
      readonly blockedBy: string;
    };

export type Admission =
  | {
      readonly tag: "pass";
      /** The digest of the approval that the claim is to spend. */
      readonly spend?: string | undefined;
      /** The operation in whose place it was approved. */
      readonly insteadOf?: string | undefined;
      /** The claim may fire only by spending an approval. */
      readonly needsYes?: boolean | undefined;
      /** The lane that the claim is to take. */
      readonly lane?: LaneChange | undefined;
    }
  | {
      readonly tag: "held";
      readonly reason: "approval" | "drift" | "lane";
      readonly resource?: string | undefined;
      readonly blockedBy?: string | undefined;
    }
  | { readonly tag: "denied"; readonly by: string }
  /** The lane is not free, and need not be: nothing would be fired. */
  | { readonly tag: "known"; readonly stored: Stored }
  /** The tool's own plan failed: no person can be asked, and nothing is sent. */
  | { readonly tag: "failed"; readonly error: unknown }
  /** All callers have left, or the time is up. */
  | { readonly tag: "stopped" };
