/**
 * The named tests that catch the planted bugs of `bugs.ts`, one each. They also stand on their own:
 * each is a trap that the engine must not fall into.
 */

import { expect, test } from "vitest";
import { createHoldfire } from "../../../src/create.ts";
import { memoryWitness } from "../../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import { finish } from "../liveness.ts";
import { classify, failure } from "../world/reply.ts";
import { TIMES } from "../world/settings.ts";
import type { World } from "../world/world.ts";
import { broken, during, wish, worldOf } from "./in-a-world.ts";

test("nothing is sent before the ledger has acknowledged the claim", async () => {
  const world = worldOf();
  await finish(world, 0, wish("N"));
  expect(world.network.sends).toHaveLength(1);
  expect(await broken(world, "I3")).toBe("");
});

test("a claim that was acknowledged outlives a power cut", async () => {
  const world = worldOf({ syncMs: 500 });
  world.call(world.process(0), wish("N"));
  await world.time.advance(300);
  for (const process of world.processes) process.crash();
  await world.store.failPower();
  await finish(world, 0, wish("N"));
  expect(await broken(world, "I1")).toBe("");
});

test("every attempt carries the same key", async () => {
  const world = worldOf();
  const call = await finish(world, 0, wish("K", { fates: ["lost_reply"] }));
  const keys = new Set(world.network.sends.map(({ key }) => key));
  expect([call.outcome?.status, world.network.sends.length, keys.size]).toEqual([
    "committed",
    2,
    1,
  ]);
});

test("an attempt whose time was up may still land", async () => {
  const world = worldOf();
  const call = await finish(world, 0, wish("N", { fates: ["slow"], heeds: false }));
  expect([call.outcome?.status, world.network.sends.length]).toEqual(["committed", 1]);
});

test("an absence proves nothing while the service can still commit", async () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const world = worldOf({ seed });
    await finish(world, 0, wish("R", { fates: ["late_commit"] }));
    await world.time.advance(TIMES.commitsWithin);
    expect(world.service.effects).toHaveLength(1);
  }
});

test("an owner that was succeeded cannot settle", async () => {
  const world = worldOf();
  world.call(world.process(0), wish("R", { fates: ["error-before"], deadlineMs: 900 }));
  while (world.network.sends.length === 0) await world.time.step();
  world.process(0).freeze("stopped");
  await world.time.advance(TIMES.lease + 500);
  world.call(world.process(1), wish("R"));
  await world.time.advance(300);
  await world.process(0).thaw("replies");
  await world.time.advance(2 * TIMES.deadline);
  expect(await broken(world, "I7")).toBe("");
});

test("a wall clock that runs ahead takes nobody's lease", async () => {
  const world = worldOf();
  world.call(world.process(0), wish("R", { fates: ["slow"] }));
  await world.time.advance(300);
  world.process(1).life().host.stepWall(86_400_000);
  world.call(world.process(1), wish("R"));
  await world.time.advance(300);
  const owners = new Set(world.store.history.map(({ by }) => by));
  expect([...owners]).toEqual(["p0.1"]);
});

test("what threw after it was sent stays in the ledger", async () => {
  const world = worldOf();
  await finish(world, 0, wish("N", { fates: ["error-after"] }));
  const again = await finish(world, 1, wish("N"));
  expect([again.outcome?.status, world.network.sends.length]).toEqual(["unknown", 1]);
});

test("a result that cannot be stored was still committed", async () => {
  for (const fate of ["circular", "bigint"] as const) {
    const world = worldOf();
    const call = await finish(world, 0, wish("N", { fates: [fate] }));
    const again = await finish(world, 1, wish("N"));
    const told = [call.outcome?.status, again.outcome?.status, world.network.sends.length];
    expect(told).toEqual(["committed", "committed", 1]);
  }
});

test("another intent under the same key is a conflict", async () => {
  const world = worldOf();
  await finish(world, 0, wish("N", { key: "k1" }));
  const other = await finish(world, 1, wish("N", { key: "k1", what: "b" }));
  expect(other.outcome?.status).toBe("conflict");
});

/** A destructive tool that is refused as often as it is fired, and an answer to its question. */
function destructive(world: World) {
  const { hf } = world.process(0).life();
  const fired: string[] = [];
  const wipe = hf.tool({
    name: "wipe",
    kind: "destructive",
    intent: ({ what }) => ({ what }),
    attempts: 1,
    classify,
    run: ({ note }: { readonly what: string; readonly note: string }) => {
      fired.push(note);
      return Promise.reject(failure("refused", 429).error);
    },
  });
  const call = async (note: string) =>
    (await during(world, wipe.outcome({ what: "a", note }, { scope: "s1" }))).status;
  const approve = async () => {
    const { items } = await during(world, hf.approvals.list());
    for (const { operation, digest } of items) {
      await during(world, hf.approvals.approve(operation.id, { digest, by: "ana" }));
    }
  };
  return { fired, call, approve };
}

test("a yes is good for the arguments that were shown, and for no others", async () => {
  const { call, approve, fired } = destructive(worldOf());
  const first = await call("this");
  await approve();
  const second = await call("that");
  expect([first, second, fired]).toEqual(["held", "held", []]);
});

test("a yes is spent by the claim, and the next firing needs another", async () => {
  const world = worldOf();
  const { call, approve, fired } = destructive(world);
  const told = [await call("this")];
  await approve();
  told.push(await call("this"));
  await world.time.advance(TIMES.cooldown + 100);
  told.push(await call("this"));
  expect([told, fired]).toEqual([["held", "not_applied", "held"], ["this"]]);
});

test("an abort after the send is not a cancellation", async () => {
  const world = worldOf();
  const call = await finish(world, 0, wish("K", { fates: ["slow"], abortAfter: 300 }));
  expect(call.outcome?.status).toBe("in_progress");
});

test("an open operation does not age", async () => {
  const world = worldOf();
  await finish(world, 0, wish("N", { fates: ["silent-after"] }));
  await world.time.advance(TIMES.keyMemory);
  await world.store.prune({ payloads: true, tombstones: true });
  const again = await finish(world, 0, wish("N"));
  expect([again.outcome?.status, world.network.sends.length]).toEqual(["unknown", 1]);
});

/** Two turns of one conversation that want the same. */
function chat(world: World, kind: "write" | "destructive", lost: number) {
  const { hf } = world.process(0).life();
  const keys: string[] = [];
  const wipe = hf.tool({
    name: "wipe",
    kind,
    attempts: 1,
    run: (_: { readonly what: string }, { key }) => {
      keys.push(key);
      return keys.length > lost ? Promise.resolve("gone") : Promise.reject(new Error("lost"));
    },
  });
  const call = (turn: string) => {
    const scope = { thread: "chat", turn };
    return during(
      world,
      hf.scope(scope, () => wipe.outcome({ what: "a" })),
    );
  };
  return { hf, keys, call };
}

test("the same intent in another turn has no second key while the first may still land", async () => {
  const world = worldOf();
  const { call, keys } = chat(world, "write", 1);
  const told = [await call("1"), await call("2"), await call("1")];
  expect(told.map(({ status }) => status)).toEqual(["unknown", "unknown", "unknown"]);
  expect(keys).toHaveLength(1);
});

test("a hold that is released fires one key, whichever turns have asked for it", async () => {
  const world = worldOf();
  const { call, keys, hf } = chat(world, "destructive", 0);
  await call("1");
  await call("2");
  const { items } = await during(world, hf.approvals.list());
  for (const { operation, digest } of items) {
    await during(world, hf.approvals.approve(operation.id, { digest, by: "ana" }));
  }
  await call("2");
  await call("1");
  expect(keys).toHaveLength(1);
});

test("a turn that tried again has no second key, also when the first is over by then", async () => {
  const world = worldOf();
  const { call, keys, hf } = chat(world, "write", 1);
  await call("1");
  const { id } = await call("2");
  await during(world, hf.operations.resolve(id, { as: "committed", by: "ana" }));
  const told = [await call("2"), await call("2")];
  expect(told.map(({ status }) => status)).toEqual(["committed", "committed"]);
  expect(keys).toHaveLength(1);
});

test("two programs with one account at a service have two keys for the same wish", async () => {
  const world = worldOf();
  const keys = new Set<string>();
  for (const app of ["billing", "support"]) {
    const hf = createHoldfire({ app, store: memoryStore(), witness: memoryWitness() });
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      keyed: { forMs: TIMES.keyMemory },
      run: (_: { readonly what: string }, { key }) => void keys.add(key),
    });
    await during(world, pay.outcome({ what: "a" }, { scope: "s1" }));
  }
  expect(keys.size).toBe(2);
});
