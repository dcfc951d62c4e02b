/** What one tenant's tools are, or did, says nothing of another's. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { recent } from "../../src/lang/recent.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { listen, lookUp, openWorld } from "./world.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as () => void;

/** Collects what is unreachable; a weak reference that was followed holds until its task has ended. */
async function collect(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    gc();
  }
}

test("a tool's kind in one tenant is no error in another", async () => {
  const hf = createHoldfire({ app: "shop", store: memoryStore({ forgets: "accepted" }) });
  hf.tool({ name: "sync", kind: "write", run: async (_: object) => 1 });
  const other = hf.forTenant("b").tool({ name: "sync", kind: "read", run: async () => 2 });
  expect(await other({})).toBe(2);
  const same = () => hf.forTenant("b").tool({ name: "sync", kind: "write", run: async () => 1 });
  expect(same).toThrow('a tool of this name is "read"');
});

test("a reader that is blind in one tenant's account keeps its licence in another's", async () => {
  const world = await openWorld();
  const { hf, pass, service, client } = world;
  const order = (tenant: string, reads: boolean) =>
    world.order(
      "readable",
      {
        commitsWithinMs: 1_000,
        readState: reads ? lookUp(client("readable")) : () => absent(),
      },
      hf.forTenant(tenant),
    );
  const [blind, honest] = [order("blind", false), order("honest", true)];
  const heard = listen(hf.forTenant("blind"));
  await pass(blind({ item: "tea" }, { scope: "s1" }));
  await world.clock.advance(1_000);
  expect(heard("warning", "reader_blind")).toHaveLength(1);

  service.plan(faults.resetBefore());
  const arrivals = service.arrivals.length;
  const lost = await pass(honest.outcome({ item: "milk" }, { scope: "s2" }));
  expect(lost).toMatchObject({ status: "committed", licence: "absent" });
  expect(service.arrivals.length - arrivals).toBe(2);

  service.plan(faults.resetBefore());
  const held = await pass(blind.outcome({ item: "milk" }, { scope: "s2" }));
  expect(held).toMatchObject({ status: "unknown", reason: "reader_blind" });
});

test("the tools of a tenant are shared by all that work for it, and not kept for ever", async () => {
  const hf = createHoldfire({ app: "shop", store: memoryStore({ forgets: "accepted" }) });
  const readState = () => committed(1);
  const define = (tenant: string) => {
    const run = async (_: object): Promise<number> => {
      throw new Error("reset");
    };
    hf.forTenant(tenant).tool({ name: "pay", kind: "write", attempts: 1, run, readState });
    return new WeakRef(run);
  };
  const first = define("tenant-0");
  expect((await hf.forTenant("tenant-0").reconcile()).skipped.noTool).toEqual({});
  await collect();
  expect(first.deref()).toBeDefined();
  for (let n = 1; n <= 1_100; n += 1) define(`tenant-${n}`);
  await collect();
  expect(first.deref()).toBeUndefined();
});

describe("what is kept by name", () => {
  test("lives as long as it is used, or its name is among the latest", async () => {
    const ofName = recent(() => ({ since: performance.now() }), 2);
    const used = ofName("used");
    const dropped = new WeakRef(ofName("dropped"));
    ofName("a");
    ofName("b");
    await collect();
    expect(ofName("used")).toBe(used);
    expect(dropped.deref()).toBeUndefined();
  });
});
