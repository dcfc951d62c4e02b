/**
 * The types of `createHoldfire`: its options, and what it returns.
 *
 * @module
 */

import type { Operations } from "./engine/admin/operations.ts";
import type { PruneOptions } from "./engine/admin/prune.ts";
import type { StatusTool } from "./engine/admin/status-tool.ts";
import type { GuardedTool } from "./engine/call/guarded-tool.ts";
import type { CallOptions, ToolWithInput, ToolWithoutInput } from "./engine/define/definition.ts";
import type { JsonArguments, NoArguments, TakesJson } from "./engine/define/json-arguments.ts";
import type {
  OnHiddenRetry,
  PayloadOptions,
  RetryOptions,
  Surroundings,
} from "./engine/define/settings.ts";
import type { Approvals } from "./gate/approvals.ts";
import type { Confirm } from "./gate/ask-person.ts";
import type { Pruned, Store } from "./ledger/store.ts";
import type { Witness } from "./ledger/witness/witness.ts";
import type { EventName, Listener } from "./observe/events.ts";
import type { DriftOptions, DriftReport } from "./reconcile/drift-report.ts";
import type { ReconcileOptions, ReconcileReport } from "./reconcile/report.ts";
import type { Fetch } from "./wire/guarded-fetch.ts";

export interface HoldfireOptions {
  /**
   * The name of this program, e.g. `"billing-agent"`: part of every key, so that two programs with one account
   * at a service never mint the same key. All processes of one program must give the same name.
   *
   * @default none; the first call of a keyed write then raises the warning `no_app`
   */
  readonly app?: string | undefined;
  /** Where outcomes are remembered. @default a SQLite file, `.holdfire/ledger.db` in the project */
  readonly store?: Store | undefined;
  /** The tenant of the ledger. Tenants share nothing but the store. @default "default" */
  readonly tenant?: string | undefined;
  readonly retry?: RetryOptions | undefined;
  /** How results are kept: size cap, redaction, encryption. */
  readonly payloads?: PayloadOptions | undefined;
  /** Asks a person during the call. Without it, destructive calls wait in `hf.approvals`. */
  readonly confirm?: Confirm | undefined;
  readonly approvals?:
    | {
        /** How long an approval can be used, in milliseconds. @default 24 h */
        readonly expiryMs?: number | undefined;
        /** Approvals given under another version are asked for again. @default "1" */
        readonly policyVersion?: string | undefined;
      }
    | undefined;
  /**
   * Records the sequence of the store outside of it, so that a store that lost data is noticed.
   *
   * @default marks in a folder `witness` beside a SQLite file, else in `.holdfire` in the project
   */
  readonly witness?: Witness | undefined;
  /**
   * When one attempt sends a request more than once: `"report"` raises the warning `hidden_retry`; `"fail"`
   * also fires no more and throws `HiddenRetryError`, except for a write, which keeps its outcome.
   *
   * @default "report"
   */
  readonly onHiddenRetry?: OnHiddenRetry | undefined;
  /** The clock, the random numbers and the ids, for tests. */
  readonly surroundings?: Surroundings | undefined;
}

/** What `hf.run` takes beside the definition. `key` names the operation in place of scope and intent. */
type Once<A> = CallOptions & { readonly args: A; readonly key?: string | undefined };

export interface Holdfire {
  /**
   * Guards a tool. `R` comes from `run`, `I` from `intent`, `A` from `input` or from the arguments of `run`, which
   * must be annotated then. Arguments are JSON: a `Date` in them does not compile. `G` is what a call is given, where a
   * schema has defaults or transforms.
   */
  tool<A extends JsonArguments<A>, R, I = A, G = A>(
    definition: ToolWithInput<A, I, R, G>,
  ): GuardedTool<G, R>;
  tool<A = NoArguments, R = unknown, I = A>(
    definition: ToolWithoutInput<A, I, R> & TakesJson<NoInfer<A>>,
  ): GuardedTool<A, R>;
  /** One call, without a tool object. */
  run<A extends JsonArguments<A>, R, I = A, G = A>(
    call: ToolWithInput<A, I, R, G> & Once<NoInfer<G>>,
  ): Promise<R>;
  run<A extends JsonArguments<A>, R, I = A>(call: ToolWithoutInput<A, I, R> & Once<A>): Promise<R>;
  /**
   * All calls inside `fn` belong to this request of a person, job or step. A nested scope is appended. With a
   * `thread`, the same call in a later turn joins one that is still open ("try again").
   */
  scope<T>(
    id: string | { readonly thread: string; readonly turn: string },
    fn: () => T,
    options?: { readonly fresh?: boolean; readonly run?: string },
  ): T;
  /**
   * Calls `fn` outside of every scope and attempt, for what outlives the call that happens to start it: a worker, a
   * queue, a connection pool. Without it, all that such a worker ever calls belongs to that first call.
   */
  detached<T>(fn: () => T): T;
  /**
   * A drop-in for `fetch`. Reads are retried; a write needs a scope and is fired once, because nothing is
   * declared about the service. To declare it, see `createFetch` of `holdfire/fetch`.
   */
  readonly fetch: Fetch;
  /** The same holdfire for another tenant: another ledger in the same store. */
  forTenant(tenant: string): Holdfire;
  /**
   * The same holdfire inside a transaction of yours (`postgresStore`): a local effect made in `run` and
   * its record commit together, or neither does. A call has one attempt, and a request that `run` tries to
   * send is refused. If a call throws, roll back.
   */
  enlist(tx: unknown): Holdfire;
  /** Trusts a store again that has lost data. The decision of a person, by name. */
  trust(vouched: { readonly by: string }): Promise<void>;
  /** Wipes old payloads and removes old operations. Open operations are never changed. */
  prune(options?: PruneOptions): Promise<Pruned>;
  /** A tool for a model that reads the status of an operation from the ledger. It changes no outcome. */
  statusTool(): StatusTool;
  /**
   * Settles open operations by reading: those that are unknown, and those whose owner died. For tools made
   * by `hf.tool` on this holdfire. Several processes may reconcile at the same time.
   */
  reconcile(options?: ReconcileOptions): Promise<ReconcileReport>;
  /** Reconciles every `ms` milliseconds, give or take a fifth. Returns the function that stops it. */
  reconcileEvery(ms: number, options?: ReconcileOptions): () => void;
  /** Compares committed operations with the service: gone, duplicated, changed, or made by no operation. */
  driftReport(options?: DriftOptions): Promise<DriftReport>;
  readonly operations: Operations;
  readonly approvals: Approvals;
  /** Returns the function that stops listening. */
  on<N extends EventName>(name: N, listener: Listener<N>): () => void;
  /** Waits for calls under way, up to `drainMs`, then closes the store. Unfinished operations stay open. */
  close(): Promise<void>;
}
