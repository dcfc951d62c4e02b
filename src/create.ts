/**
 * `createHoldfire`: fills in the defaults and wires the parts of the engine.
 *
 * @module
 */

import { randomUUID } from "node:crypto";
import type { Holdfire, HoldfireOptions } from "./api.ts";
import { createBudgets } from "./engine/budget.ts";
import { createCalledBy } from "./engine/called-by.ts";
import { checkOptions, positive } from "./engine/define/check.ts";
import { attemptsOf, budgetOf, checkOnHiddenRetry, timingOf } from "./engine/define/settings.ts";
import { type Engine, newTenant } from "./engine/engine.ts";
import { createLiveOperations } from "./engine/live-operations.ts";
import { createPersist } from "./engine/store-call.ts";
import { InvalidInputError } from "./errors.ts";
import { gateOf } from "./gate/gate.ts";
import { holdfireFor } from "./holdfire.ts";
import { checkApp, checkTenant } from "./key/check-name.ts";
import { type Clock, sleep, systemClock } from "./lang/clock.ts";
import { nodeProblem } from "./lang/node-version.ts";
import { createPending } from "./lang/pending.ts";
import { recent } from "./lang/recent.ts";
import { createStop } from "./lang/stop.ts";
import { createCodec } from "./ledger/codec/codec.ts";
import { lazyDefaultStore, lazyWitness } from "./ledger/lazy-store.ts";
import { createLedger } from "./ledger/ledger.ts";
import type { Store } from "./ledger/store.ts";
import { memoryWitness, type Witness } from "./ledger/witness/witness.ts";
import { createEvents } from "./observe/events.ts";

export type { Holdfire, HoldfireOptions } from "./api.ts";

const OPTIONS = [
  "app",
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
/** Tenants whose tools are remembered although the program holds none of them. */
const MOST_TENANTS = 1_000;
const DAY_MS = 24 * 3_600_000;

/** The engine without what each tenant has of its own. */
type EngineParts = Omit<Engine, "tenant" | "tenantState">;

export function createHoldfire(options: HoldfireOptions = {}): Holdfire {
  checkAll(options);
  const { retry, confirm, approvals = {}, surroundings = {} } = options;
  const { store, witness } = storeOf(options);
  const clock: Clock = surroundings.clock ?? systemClock;
  const timing = timingOf(retry);
  const attempts = attemptsOf(retry);
  const events = createEvents();
  const stateOf = recent(newTenant, MOST_TENANTS);
  // Taken now: whoever puts `hf.fetch` in its place later must not make it call itself.
  const { fetch } = globalThis;
  const closed = createStop();
  let closing: Promise<void> | undefined;
  const app = options.app === undefined ? undefined : checkApp(options.app);
  const ledgerParts = {
    app,
    clock,
    onSuspect: (why: string) => events.emit("store", () => ({ status: "suspect", why })),
    onWitnessError: (error: unknown) =>
      events.emit("store", () => ({ status: "error", step: "witness", error })),
  };
  const parts: EngineParts = {
    app,
    ledger: createLedger({ ...ledgerParts, store, witness }),
    codec: createCodec(options.payloads),
    clock,
    events,
    random: surroundings.random ?? Math.random,
    newId: surroundings.newId ?? randomUUID,
    timing,
    callLeftMs: undefined,
    gate: gateOf({
      confirm,
      expiryMs: positive(approvals.expiryMs ?? DAY_MS, "approvals.expiryMs"),
      policyVersion: approvals.policyVersion ?? "1",
    }),
    budgets: createBudgets(budgetOf(retry), clock),
    onHiddenRetry: checkOnHiddenRetry(options.onHiddenRetry),
    warned: { noApp: false },
    calledBy: createCalledBy(),
    live: createLiveOperations(),
    endedHere: new Map(),
    unrecorded: new Map(),
    persist: createPersist(clock, timing.storeTimeoutMs, closed.signal),
    enlisted: false,
    spoil: async () => {},
    isClosed: () => closing !== undefined,
    pending: createPending(),
  };

  async function drainAndClose(): Promise<void> {
    const { pending } = parts;
    const deadline = clock.monotonic() + timing.drainMs;
    while (pending.count() > 0 && clock.monotonic() < deadline) {
      const drained = createStop();
      void pending.none().then(() => drained.abort());
      await sleep(clock, deadline - clock.monotonic(), drained.signal);
    }
    // A person may take for ever. Whoever waits for one is told that the question is open.
    for (const execution of parts.live.executions()) execution.stopAsking();
    closed.abort();
    witness.close();
    await store.close();
  }

  function enlistedParts(tx: unknown): EngineParts {
    const inside = store.enlist?.(tx);
    if (!inside) {
      throw new InvalidInputError(
        "options.store",
        `cannot enlist: the ${store.name} store has no transactions to join.`,
      );
    }
    // A lane left in a transaction would keep others waiting for its end; it is free by the record.
    const ledger = createLedger({
      ...ledgerParts,
      store: inside,
      witness: memoryWitness(),
      leavesLanes: false,
    });
    const live = createLiveOperations();
    return { ...parts, live, ledger, enlisted: true, spoil: inside.spoil };
  }

  function forTenant(tenant: string, own: EngineParts): Holdfire {
    const engine: Engine = {
      ...own,
      tenant: checkTenant(tenant),
      events: events.of(tenant),
      tenantState: stateOf(tenant),
    };
    return holdfireFor(engine, {
      attempts,
      fetch,
      forTenant: (other) => forTenant(other, own),
      enlist: (tx) => forTenant(tenant, enlistedParts(tx)),
      close() {
        closing ??= drainAndClose();
        return closing;
      },
    });
  }
  return forTenant(options.tenant ?? "default", parts);
}

function checkAll(options: HoldfireOptions): void {
  // An older one does not show all requests on their way out, so that too much would be believed.
  const tooOld = nodeProblem(process.versions.node);
  if (tooOld !== undefined) throw new InvalidInputError("process.version", tooOld);
  checkOptions(options, OPTIONS, "options");
  checkOptions(options.approvals ?? {}, ["expiryMs", "policyVersion"], "approvals");
  checkOptions(options.surroundings ?? {}, ["clock", "random", "newId"], "surroundings");
  checkOptions(
    options.payloads ?? {},
    ["maxBytes", "redact", "errorText", "encryption"],
    "payloads",
  );
}

/** The store and its witness; the default store is loaded when it is first used, so that `import` is cheap. */
function storeOf(options: HoldfireOptions): { readonly store: Store; readonly witness: Witness } {
  const { env } = process;
  const start = { entry: process.argv[1], cwd: process.cwd() };
  const defaults = () => import("./stores/default.ts");
  const store =
    options.store ??
    lazyDefaultStore("sqlite", async () => (await defaults()).defaultStore(env, start));
  if (typeof store?.swap !== "function") {
    throw new InvalidInputError("options.store", "must be a store, e.g. memoryStore().");
  }
  if (options.witness) return { store, witness: options.witness };
  // A store that dies with the process needs no witness outside it.
  const diesWithProcess = options.store !== undefined && options.store.address === undefined;
  const fromDefaults = async () => (await defaults()).defaultWitness(options.store, env, start);
  return { store, witness: diesWithProcess ? memoryWitness() : lazyWitness(fromDefaults) };
}
