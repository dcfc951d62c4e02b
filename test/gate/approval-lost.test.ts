import { beforeEach, describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { Confirm } from "../../src/gate/ask-person.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryWitness, type Witness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";
import { waiting } from "./bucket.ts";

const TENANT = "default";
const LOGS = { bucket: "logs" };
const IN = { scope: "s" };
const yes: Confirm = () => ({ approve: true, by: "ana" });
const LOST = { status: "unknown", reason: "store_lost" };

let clock: VirtualClock;
let inner: Store;
let witness: Witness;
let runs: string[];

/** As a server that restarts empty under those who use it. */
const store = new Proxy({} as Store, {
  get: (_, name) => {
    const value: unknown = Reflect.get(inner, name);
    if (typeof value !== "function") return value;
    return (...given: unknown[]) => Reflect.apply(Reflect.get(inner, name), inner, given);
  },
});

const emptied = () => memoryStore({ now: clock.now, forgets: "accepted" });

beforeEach(() => {
  clock = virtualClock();
  inner = emptied();
  witness = memoryWitness();
  runs = [];
});

const open = (confirm?: Confirm) =>
  createHoldfire({ store, witness, confirm, surroundings: { clock, random: () => 0.5 } });

function dropper(hf: Holdfire, options: object = {}) {
  const drop = hf.tool({
    name: "drop",
    kind: "destructive",
    ...options,
    run: async ({ bucket }: { readonly bucket: string }) => {
      runs.push(bucket);
      return "dropped";
    },
  });
  return () => clock.run(drop.outcome(LOGS, IN));
}

async function sayYes(hf: Holdfire): Promise<void> {
  const { operation, digest } = await waiting(hf);
  await hf.approvals.approve(operation.id, { digest, by: "ana" });
}

describe("a question that finds out that the store has lost data", () => {
  test("is no proof that nothing was sent: the yes to it lets nothing be sent anew", async () => {
    const drop = dropper(open(yes));
    expect(await drop()).toMatchObject({ status: "committed" });
    inner = emptied();
    expect(await drop()).toMatchObject(LOST);
    expect(await drop()).toMatchObject(LOST);
    expect(runs).toEqual(["logs"]);
  });

  test("says so itself: who has not found out does not send either", async () => {
    const drop = dropper(open(yes));
    await drop();
    const hf = open();
    const asks = dropper(hf);
    await asks();
    inner = emptied();
    expect(await asks()).toMatchObject({ status: "held", reason: "approval" });
    const { operation } = await waiting(hf);
    const { stored } = await inner.read(TENANT, operation.id);
    expect(stored?.record).toMatchObject({
      fired: 1,
      state: { tag: "held", before: { tag: "unknown", reason: "store_lost" } },
    });
    await sayYes(hf);
    witness = memoryWitness();
    expect(await dropper(open())()).toMatchObject(LOST);
    expect(runs).toEqual(["logs"]);
  });

  test("is sent with the same key where the service honours it", async () => {
    const keys: string[] = [];
    const hf = open(yes);
    const drop = hf.tool({
      name: "drop",
      kind: "destructive",
      keyed: { forMs: 86_400_000 },
      run: async (_: typeof LOGS, { key }) => keys.push(key),
    });
    await clock.run(drop(LOGS, IN));
    inner = emptied();
    expect(await clock.run(drop.outcome(LOGS, IN))).toMatchObject({
      status: "committed",
      licence: "keyed",
    });
    expect(new Set(keys).size).toBe(1);
  });
});

describe("a yes that was spent in what the store has lost", () => {
  /** The ledger as it was before the yes was spent is put back. */
  async function putBack(hf: Holdfire): Promise<() => Promise<void>> {
    const { operation } = await waiting(hf);
    await sayYes(hf);
    const { stored } = await inner.read(TENANT, operation.id);
    return async () => {
      inner = emptied();
      const { id } = operation;
      await inner.swap({ tenant: TENANT, id, expect: 0, record: stored?.record, lease: "none" });
    };
  }

  test("is not spent again without a look", async () => {
    const hf = open();
    const drop = dropper(hf);
    await drop();
    const restore = await putBack(hf);
    expect(await drop()).toMatchObject({ status: "committed" });
    await restore();
    // A process that starts on it finds another ledger than the witness knows.
    const again = dropper(open());
    expect(await again()).toMatchObject(LOST);
    expect(runs).toEqual(["logs"]);
  });

  test("is good once a person says that nothing was sent, and yes", async () => {
    const first = open();
    await dropper(first)();
    const restore = await putBack(first);
    await restore();
    const hf = open();
    const drop = dropper(hf);
    const unknown = await drop();
    expect(unknown).toMatchObject(LOST);
    await hf.operations.resolve(unknown.id, { as: "not_applied", by: "ben", anyway: true });
    expect(await drop()).toMatchObject({ status: "held", reason: "approval" });
    await sayYes(hf);
    expect(await drop()).toMatchObject({ status: "committed", licence: "person" });
    expect(runs).toEqual(["logs"]);
  });
});
