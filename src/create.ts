/**
 * `createHoldfire`: fills in the defaults and wires the parts. The one place that sees them all.
 *
 * @module
 */

import { type GuardedTool, guard } from "./engine/call/guarded-tool.ts";
import { currentFrame } from "./engine/call/nesting.ts";
import { defineTool, positive, type Registry } from "./engine/define/define-tool.ts";
import type { Engine, Tool } from "./engine/engine.ts";
import { putInside } from "./engine/engine-of.ts";
import { lazyGate } from "./engine/gate.ts";
import { createBudgets } from "./engine/loops/budget.ts";
import { type Clock, sleep, systemClock } from "./lang/clock.ts";
// First loaded here, outside of any call.
import "./lang/detached.ts";
import { makeStatusTool } from "./engine/admin/status-tool.ts";
import type { ToolDefinition } from "./engine/define/definition.ts";
import {
  attemptsOf,
  checkOnHiddenRetry,
  checkOptions,
  timingOf,
} from "./engine/define/settings.ts";
import { createPersist } from "./engine/persist.ts";
import { ClosedError, InvalidInputError } from "./errors.ts";
import type { Holdfire, HoldfireOptions } from "./holdfire.ts";
import { checkPerson, checkScope, checkTenant } from "./key/check-name.ts";
import { enterScope } from "./key/scope.ts";
import { createCodec } from "./ledger/codec.ts";
import { lazyStore } from "./ledger/lazy-store.ts";
import { lazyWitness } from "./ledger/lazy-witness.ts";
import { createLedger } from "./ledger/ledger.ts";
import type { Store } from "./ledger/store.ts";
import { memoryWitness, type Witness } from "./ledger/witness.ts";
import { createEvents } from "./observe/events.ts";
import { reconcileEvery } from "./reconcile/every.ts";
import type { Fetch } from "./wire/guarded-fetch.ts";

export type { Holdfire, HoldfireOptions, RunOnce } from "./holdfire.ts";

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

type Late = typeof import("./late.ts");

let late: Late | undefined;

/** Loads what the first call needs; once it is there, nothing waits for it. */
export async function preload(): Promise<Late> {
  late = await import("./late.ts");
  return late;
}

const loaded = (): Late | Promise<Late> => late ?? preload();

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
  const witness = options.witness ?? witnessOf(options.store);
  if (typeof store?.swap !== "function") {
    throw new InvalidInputError("options.store", "must be a store, e.g. memoryStore()");
  }
  /** A store that dies with the process needs no witness outside it. */
  function witnessOf(given: Store | undefined): Witness {
    if (given && given.address === undefined) return memoryWitness();
    return lazyWitness(async () => (await defaults()).defaultWitness(given, env, cwd));
  }
  const clock: Clock = surroundings.clock ?? systemClock;
  // Taken now: whoever puts `hf.fetch` in its place later must not make it call itself.
  const { fetch } = globalThis;
  const timing = timingOf(retry);
  const attempts = attemptsOf(retry);
  const events = createEvents();
  const registry: Registry = new Map();
  /** Made by `hf.tool`, by tenant and name: these can look without a caller. */
  const toolsOf = new Map<string, Map<string, Tool>>();
  const closed = new AbortController();
  let closing: Promise<void> | undefined;
  const gateOptions = {
    confirm,
    expiryMs: positive(approvals.expiryMs ?? DAY_MS, "approvals.expiryMs"),
    policyVersion: approvals.policyVersion ?? "1",
  };
  const ledgerParts = {
    clock,
    onSuspect: (why: string) => events.emit("store_suspect", { why }),
    onWitnessError: (error: unknown) => events.emit("store_error", { step: "witness", error }),
  };
  const shared: Shared = {
    ledger: createLedger({ ...ledgerParts, store, witness }),
    codec: createCodec(options.payloads),
    clock,
    events,
    random: surroundings.random ?? Math.random,
    newId: surroundings.newId ?? (() => crypto.randomUUID()),
    timing,
    gate: lazyGate(async () => (await loaded()).gatesOf(gateOptions)),
    loadPerform: () => late?.perform ?? preload().then(({ perform }) => perform),
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
    const parts = { ...ledgerParts, store: inside, witness: memoryWitness() };
    // A lane left in a transaction would keep others waiting for its end; it is free by the record.
    const ledger = createLedger({ ...parts, leavesLanes: false });
    return { ...shared, ledger, enlisted: true, flights: new Map(), unended: new Map() };
  }

  function forTenant(tenant: string, parts: Shared = shared): Holdfire {
    const engine: Engine = {
      ...parts,
      tenant: checkTenant(tenant),
      events: events.of(tenant),
      seen: new Map(),
    };
    const tools = toolsOf.get(tenant) ?? new Map<string, Tool>();
    toolsOf.set(tenant, tools);
    const define = (definition: object): Tool => {
      // What a call under way still needs is part of that call.
      if (engine.isClosed() && !currentFrame()) throw new ClosedError();
      const defined = defineTool(definition as ToolDefinition<never, never, unknown>, registry);
      const own = "attempts" in definition || defined.kind === "read" || attempts === undefined;
      return own ? defined : { ...defined, attempts };
    };
    const reconcile: Holdfire["reconcile"] = async (what = {}) =>
      (await loaded()).reconcile(what, tools, engine);
    let guarded: Fetch | undefined;
    const hf: Holdfire = {
      tool: ((definition: object): GuardedTool<never, never> => {
        const tool = define(definition);
        // One made inside a transaction ends with it.
        if (!engine.enlisted) tools.set(tool.name, tool);
        return guard(tool, engine);
      }) as unknown as Holdfire["tool"],
      run: (async (call: Readonly<Record<string, unknown>>) => {
        const { args, ...rest } = call;
        const definition = { ...rest };
        const given: Record<string, unknown> = {};
        for (const name of CALL_OPTIONS) {
          if (name !== "deadlineMs") delete definition[name];
          if (call[name] !== undefined) given[name] = call[name];
        }
        return guard(define(definition), engine)(args, given);
      }) as unknown as Holdfire["run"],
      scope: (id, fn, how) => enterScope(checkScope(id), fn, how),
      fetch: async (input, init) => {
        guarded ??= (late ?? (await preload())).createFetch(hf, { fetch });
        return guarded(input, init);
      },
      forTenant: (other) => forTenant(other, parts),
      enlist: (tx) => forTenant(tenant, enlisted(tx)),
      trust: async ({ by }) => engine.ledger.trust(checkPerson(by)),
      prune: async (what = {}) => (await loaded()).prune(what, engine),
      statusTool: () =>
        makeStatusTool(async (asked, scope) => (await loaded()).lookUpIn(engine)(asked, scope)),
      reconcile,
      reconcileEvery: (ms, what = {}) => reconcileEvery(ms, what, reconcile, engine),
      driftReport: async (what = {}) => (await loaded()).driftReport(what, tools, engine),
      operations: {
        list: async (query) => (await loaded()).operationsOf(engine).list(query),
        get: async (id) => (await loaded()).operationsOf(engine).get(id),
        resolve: async (id, as) => (await loaded()).operationsOf(engine).resolve(id, as),
      },
      approvals: {
        list: async (query) => (await loaded()).approvalsOf(engine).list(query),
        get: async (id) => (await loaded()).approvalsOf(engine).get(id),
        approve: async (id, by) => (await loaded()).approvalsOf(engine).approve(id, by),
        deny: async (id, by) => (await loaded()).approvalsOf(engine).deny(id, by),
      },
      on: engine.events.on,
      close() {
        closing ??= close();
        return closing;
      },
    };
    return putInside(hf, engine);
  }
  return forTenant(options.tenant ?? "default");
}
