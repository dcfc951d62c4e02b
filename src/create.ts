/**
 * `createHoldfire`: fills in the defaults and wires the parts. The one place that sees them all.
 *
 * @module
 */

import { type Clock, sleep, systemClock } from "./clock.ts";
import { createBudgets } from "./engine/budget.ts";
import { type GuardedTool, guard } from "./engine/call.ts";
import { defineTool, positive, type Registry } from "./engine/define.ts";
import type { Engine } from "./engine/engine.ts";
import { checkOnHiddenRetry, type OnHiddenRetry } from "./engine/hidden-retry.ts";
import { putInside } from "./engine/inside.ts";
import { type Operations, operationsOf } from "./engine/operations.ts";
import { createPersist } from "./engine/persist.ts";
import { type PruneOptions, prune } from "./engine/prune.ts";
import {
  attemptsOf,
  checkOptions,
  type PayloadOptions,
  type RetryOptions,
  type Surroundings,
  timingOf,
} from "./engine/settings.ts";
import type {
  CallOptions,
  ToolDefinition,
  ToolWithInput,
  ToolWithoutInput,
} from "./engine/tool.ts";
import { ClosedError, InvalidInputError } from "./errors.ts";
import { approvalGate, type Confirm } from "./gate/approval.ts";
import { type Approvals, approvalsOf } from "./gate/approvals.ts";
import { checkPerson, checkScope, checkTenant } from "./key/name.ts";
import { enterScope } from "./key/scope.ts";
import { createCodec } from "./ledger/codec.ts";
import { lazyStore } from "./ledger/lazy-store.ts";
import { lazyWitness } from "./ledger/lazy-witness.ts";
import { createLedger } from "./ledger/ledger.ts";
import type { Pruned, Store } from "./ledger/store.ts";
import { memoryWitness, type Witness } from "./ledger/witness.ts";
import { createEvents, type EventName, type Listener } from "./observe/events.ts";

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
   * When one attempt sends a request more than once: tell (event `hidden-retry`), or also fire no more
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
  readonly operations: Operations;
  readonly approvals: Approvals;
  /** Returns the function that stops listening. */
  on<N extends EventName>(name: N, listener: Listener<N>): () => void;
  /** Waits for calls under way (`drainMs`), then closes the store and leaves the rest open. */
  close(): Promise<void>;
}

const OPTIONS = [
  "store",
  "tenant",
  "retry",
  "payloads",
  "confirm",
  "approvals",
  "witness",
  "onHiddenRetry",
  "surroundings",
];
const CALL_OPTIONS = ["scope", "again", "retry", "signal", "deadlineMs", "aliases", "key"] as const;
const DAY_MS = 24 * 3_600_000;

/** What all tenants of one holdfire share. */
type Shared = Omit<Engine, "tenant" | "seen">;

export function createHoldfire(options: HoldfireOptions = {}): Holdfire {
  checkOptions(options, OPTIONS, "options");
  checkOptions(options.approvals ?? {}, ["expiryMs", "policyVersion"], "approvals");
  checkOptions(options.surroundings ?? {}, ["clock", "random", "newId"], "surroundings");
  checkOptions(options.payloads ?? {}, ["maxBytes", "redact", "encryption"], "payloads");
  const { retry, confirm, approvals = {}, surroundings = {} } = options;
  const defaults = () => import("./stores/default.ts");
  const { env } = process;
  const cwd = process.cwd();
  const store =
    options.store ?? lazyStore("sqlite", async () => (await defaults()).defaultStore(env, cwd));
  const witness =
    options.witness ??
    lazyWitness(async () => (await defaults()).defaultWitness(options.store, env, cwd));
  if (typeof store?.swap !== "function") {
    throw new InvalidInputError("options.store", "must be a store, e.g. memoryStore()");
  }
  const clock: Clock = surroundings.clock ?? systemClock;
  const timing = timingOf(retry);
  const attempts = attemptsOf(retry);
  const events = createEvents();
  const registry: Registry = new Map();
  const closed = new AbortController();
  let closing: Promise<void> | undefined;
  const ledgerParts = {
    clock,
    onSuspect: (why: string) => events.emit("store-suspect", { why }),
    onWitnessError: (error: unknown) => events.emit("store-error", { step: "witness", error }),
  };
  const shared: Shared = {
    ledger: createLedger({ ...ledgerParts, store, witness }),
    codec: createCodec(options.payloads),
    clock,
    events,
    random: surroundings.random ?? Math.random,
    newId: surroundings.newId ?? (() => crypto.randomUUID()),
    timing,
    gate: approvalGate({
      confirm,
      expiryMs: positive(approvals.expiryMs ?? DAY_MS, "approvals.expiryMs"),
      policyVersion: approvals.policyVersion ?? "1",
    }),
    budgets: createBudgets(),
    onHiddenRetry: checkOnHiddenRetry(options.onHiddenRetry),
    flights: new Map(),
    unended: new Map(),
    persist: createPersist(clock, timing.storeTimeoutMs, closed.signal),
    enlisted: false,
    isClosed: () => closing !== undefined,
    background: new Set(),
  };

  async function close(): Promise<void> {
    const underWay = () => [
      ...shared.background,
      ...[...shared.flights.values()].map(({ landed }) => landed),
    ];
    const deadline = clock.monotonic() + timing.drainMs;
    while (underWay().length > 0 && clock.monotonic() < deadline) {
      const drained = new AbortController();
      void Promise.allSettled(underWay()).then(() => drained.abort());
      await sleep(clock, deadline - clock.monotonic(), drained.signal);
    }
    closed.abort();
    witness.close();
    await store.close();
  }

  function enlisted(tx: unknown): Shared {
    const inside = store.enlist?.(tx);
    if (!inside) {
      throw new InvalidInputError(
        "options.store",
        `cannot enlist: the ${store.name} store has no transactions to join`,
      );
    }
    const ledger = createLedger({ ...ledgerParts, store: inside, witness: memoryWitness() });
    return { ...shared, ledger, enlisted: true, flights: new Map(), unended: new Map() };
  }

  function forTenant(tenant: string, parts: Shared = shared): Holdfire {
    const engine: Engine = { ...parts, tenant: checkTenant(tenant), seen: new Map() };
    const tool = (definition: object): GuardedTool<never, never> => {
      if (engine.isClosed()) throw new ClosedError();
      const defined = defineTool(definition as ToolDefinition<never, never, unknown>, registry);
      const own = "attempts" in definition || defined.kind === "read" || attempts === undefined;
      return guard(own ? defined : { ...defined, attempts }, engine);
    };
    const hf: Holdfire = {
      tool: tool as unknown as Holdfire["tool"],
      run: (async (call: Readonly<Record<string, unknown>>) => {
        const { args, ...rest } = call;
        const definition = { ...rest };
        const given: Record<string, unknown> = {};
        for (const name of CALL_OPTIONS) {
          if (name !== "deadlineMs") delete definition[name];
          if (call[name] !== undefined) given[name] = call[name];
        }
        return tool(definition)(args as never, given);
      }) as unknown as Holdfire["run"],
      scope: (id, fn, how) => enterScope(checkScope(id), fn, how),
      forTenant: (other) => forTenant(other, parts),
      enlist: (tx) => forTenant(tenant, enlisted(tx)),
      trust: async ({ by }) => engine.ledger.trust(checkPerson(by)),
      prune: (what = {}) => prune(what, engine),
      operations: operationsOf(engine),
      approvals: approvalsOf(engine),
      // Tenants never meet, not even in a log.
      on: <N extends EventName>(name: N, listener: Listener<N>) =>
        events.on(name, (event) => {
          const ours = !("tenant" in event) || event.tenant === engine.tenant;
          return ours ? listener(event) : undefined;
        }),
      close() {
        closing ??= close();
        return closing;
      },
    };
    return putInside(hf, engine);
  }
  return forTenant(options.tenant ?? "default");
}
