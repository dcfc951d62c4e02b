/**
 * The parts of an engine on a virtual clock and a real memory store, for tests of single steps.
 *
 * @module
 */

import { createBudgets } from "../../src/engine/budget.ts";
import { nameOperation } from "../../src/engine/call/name-operation.ts";
import { createCalledBy } from "../../src/engine/called-by.ts";
import { defineTool } from "../../src/engine/define/define-tool.ts";
import type { ToolDefinition } from "../../src/engine/define/definition.ts";
import { budgetOf, timingOf } from "../../src/engine/define/settings.ts";
import { type Engine, type Gate, newTenant } from "../../src/engine/engine.ts";
import { createLiveOperations } from "../../src/engine/live-operations.ts";
import type {
  Execution,
  NamedCallOptions,
  Operation,
} from "../../src/engine/operation/operation.ts";
import { createPersist } from "../../src/engine/store-call.ts";
import { canonicalize } from "../../src/key/canonical.ts";
import { createPending } from "../../src/lang/pending.ts";
import { createCodec } from "../../src/ledger/codec/codec.ts";
import { createLedger } from "../../src/ledger/ledger.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { createEvents } from "../../src/observe/events.ts";
import { type FailingStore, failingStore } from "./failing-store.ts";
import { type VirtualClock, virtualClock } from "./virtual-clock.ts";

export interface TestEngine extends Engine {
  readonly clock: VirtualClock;
  readonly failing: FailingStore;
}

/** Lets everything pass: for steps that have nothing to do with people or lanes. */
const openGate: Gate = {
  admit: async () => ({ tag: "pass" }),
  plan: async () => {
    throw new Error("There are no plans here.");
  },
  toldOpen: async () => {},
  leave: () => {},
};

export function engineOf(overrides: Partial<Engine> = {}): TestEngine {
  const clock = virtualClock();
  const failing = failingStore({ now: clock.now, forgets: "accepted" });
  const { timing = timingOf() } = overrides;
  let ids = 0;
  return {
    app: undefined,
    tenant: "acme",
    ledger: createLedger({
      store: failing,
      clock,
      witness: memoryWitness(),
      onSuspect: () => {},
      onWitnessError: () => {},
    }),
    codec: createCodec(),
    events: createEvents(),
    random: () => 0.5,
    newId: () => {
      ids += 1;
      return `holder-${ids}`;
    },
    timing,
    callLeftMs: undefined,
    gate: openGate,
    budgets: createBudgets(budgetOf(), clock),
    onHiddenRetry: "report",
    enlisted: false,
    spoil: async () => {},
    tenantState: newTenant(),
    warned: { noApp: false },
    calledBy: createCalledBy(),
    live: createLiveOperations(),
    endedHere: new Map(),
    unrecorded: new Map(),
    persist: createPersist(clock, timing.storeTimeoutMs, new AbortController().signal),
    isClosed: () => false,
    pending: createPending(),
    ...overrides,
    clock,
    failing,
  };
}

/** A call of a tool, named; of a keyed one unless said otherwise. */
export function operationOf(
  engine: Engine,
  definition: object = {},
  args: unknown = { item: "tea" },
  options: NamedCallOptions = { scope: "s" },
): Operation {
  const whole = {
    name: "order",
    kind: "write",
    keyed: { forMs: 1e9 },
    run: () => 1,
    ...definition,
  };
  const tool = defineTool(whole as unknown as ToolDefinition<never, never, unknown>, new Map());
  return nameOperation(tool, canonicalize(args, "args"), options, engine);
}

/** An execution without callers: for steps that only look at it. */
export function executionOf(operation: Operation, rest: Partial<Execution> = {}): Execution {
  const done = async <T>(wait: () => Promise<T>) => ({ tag: "done", value: await wait() }) as const;
  return {
    operation,
    startedAt: { monotonic: 0, wall: 0 },
    stopped: new AbortController().signal,
    remainingMs: () => 60_000,
    hasCaller: () => false,
    stopAsking() {},
    outsideDeadline: done,
    untilStopped: done,
    sent: false,
    isAnswered: false,
    telling: false,
    fireMode: "freely",
    ...rest,
  };
}
