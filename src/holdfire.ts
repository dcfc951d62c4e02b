/**
 * What a user is given: the options of a holdfire, and what it can do.
 *
 * @module
 */

import type { Operations } from "./engine/admin/operations.ts";
import type { PruneOptions } from "./engine/admin/prune.ts";
import type { StatusTool } from "./engine/admin/status-tool.ts";
import type { GuardedTool } from "./engine/call/guarded-tool.ts";
import type { CallOptions, ToolWithInput, ToolWithoutInput } from "./engine/define/definition.ts";
import type {
  OnHiddenRetry,
  PayloadOptions,
  RetryOptions,
  Surroundings,
} from "./engine/define/settings.ts";
import type { Confirm } from "./gate/approval.ts";
import type { Approvals } from "./gate/approvals.ts";
import type { Pruned, Store } from "./ledger/store.ts";
import type { Witness } from "./ledger/witness.ts";
import type { EventName, Listener } from "./observe/events.ts";
import type { DriftOptions, DriftReport } from "./reconcile/drift-report.ts";
import type { ReconcileOptions, ReconcileReport } from "./reconcile/report.ts";
import type { Fetch } from "./wire/guarded-fetch.ts";

export interface HoldfireOptions {
  /** Where outcomes are remembered. @default a SQLite file, `.holdfire/ledger.db` in the project */
  readonly store?: Store | undefined;
  /** Whose ledger this is. Tenants never meet. @default "default" */
  readonly tenant?: string | undefined;
  readonly retry?: RetryOptions | undefined;
  /** How results are kept: size cap, redaction, encryption. */
  readonly payloads?: PayloadOptions | undefined;
  /** Asks a person on the spot. Without it, destructive calls wait in the inbox. */
  readonly confirm?: Confirm | undefined;
  readonly approvals?:
    | {
        /** How long a yes can be used, in milliseconds. @default 24 h */
        readonly expiryMs?: number | undefined;
        /** Another version asks again. @default "1" */
        readonly policyVersion?: string | undefined;
      }
    | undefined;
  /**
   * Remembers outside the store how far it had come, so that a store that lost data is noticed.
   *
   * @default marks in a folder `witness` beside a SQLite file, else in `.holdfire` in the project
   */
  readonly witness?: Witness | undefined;
  /**
   * When one attempt sends a request more than once: tell (event `hidden_retry`), or also fire no more
   * and throw `HiddenRetryError`. A write has the outcome it has. @default "report"
   */
  readonly onHiddenRetry?: OnHiddenRetry | undefined;
  /** Time and chance, for tests. */
  readonly surroundings?: Surroundings | undefined;
}

/** One call without a tool object. `key` names the operation in place of scope and intent. */
export type RunOnce<A, I, R> =
  | (ToolWithInput<A, I, R> & Once<NoInfer<A>>)
  | (ToolWithoutInput<A, I, R> & Once<A>);

type Once<A> = CallOptions & { readonly args: A; readonly key?: string | undefined };

export interface Holdfire {
  /** Guards a tool. `R` comes from `run`, `I` from `intent`, `A` from `input` or from `run`. */
  tool<A, R, I = A>(definition: ToolWithInput<A, I, R>): GuardedTool<A, R>;
  tool<A, R, I = A>(definition: ToolWithoutInput<A, I, R>): GuardedTool<A, R>;
  /** The same for one call. */
  run<A, R, I = A>(call: ToolWithInput<A, I, R> & Once<NoInfer<A>>): Promise<R>;
  run<A, R, I = A>(call: ToolWithoutInput<A, I, R> & Once<A>): Promise<R>;
  /** Everything called inside belongs to this request of a person, job or step. Nested, it appends. */
  scope<T>(
    id: string,
    fn: () => T,
    options?: { readonly fresh?: boolean; readonly run?: string },
  ): T;
  /**
   * A drop-in for `fetch`. Reads are retried; a write needs a scope and is fired once, for nothing is known
   * of the service. To say what it promises, see `createFetch` of `holdfire/fetch`.
   */
  readonly fetch: Fetch;
  /** The same holdfire for another tenant: another ledger in the same store. */
  forTenant(tenant: string): Holdfire;
  /**
   * The same holdfire inside a transaction of yours (`postgresStore`): a local effect made in `run` and
   * its record commit together, or neither does. One attempt a call, and a request that `run` would
   * send is refused. If a call throws, roll back.
   */
  enlist(tx: unknown): Holdfire;
  /** Ends the suspicion against a store that has lost data: a person vouches for it, by name. */
  trust(vouched: { readonly by: string }): Promise<void>;
  /** Wipes what is older than it need be. Open operations are never touched. */
  prune(options?: PruneOptions): Promise<Pruned>;
  /** A tool for a model: what became of an operation. It looks into the ledger and changes nothing. */
  statusTool(): StatusTool;
  /**
   * Settles open operations by reading alone: those that are unknown, and those whose owner is gone.
   * For tools made by `hf.tool` on this holdfire. Several may run at once, in any process.
   */
  reconcile(options?: ReconcileOptions): Promise<ReconcileReport>;
  /** A pass every so many milliseconds, more or less; the returned function stops it. */
  reconcileEvery(ms: number, options?: ReconcileOptions): () => void;
  /** What is committed beside what is there now: gone, done twice, changed, or made by no operation of this ledger. */
  driftReport(options?: DriftOptions): Promise<DriftReport>;
  readonly operations: Operations;
  readonly approvals: Approvals;
  /** Returns the function that stops listening. */
  on<N extends EventName>(name: N, listener: Listener<N>): () => void;
  /** Waits for calls under way (`drainMs`), then closes the store and leaves the rest open. */
  close(): Promise<void>;
}
