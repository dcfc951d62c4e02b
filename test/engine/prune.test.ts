import { expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { InvalidInputError } from "../../src/errors.ts";
import type { Pruned } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { virtualClock } from "./virtual-clock.ts";

const DAY_MS = 86_400_000;

/** So many settled operations, each with its result, and this much later. */
async function settled(count: number, laterMs: number): Promise<Holdfire> {
  const clock = virtualClock();
  const store = memoryStore({ now: clock.now, forgets: "accepted" });
  const hf = createHoldfire({ store, surroundings: { clock } });
  const pay = hf.tool({ name: "pay", kind: "write", run: async ({ n }: { n: number }) => n });
  for (let n = 0; n < count; n += 1) await clock.run(pay({ n }, { scope: "job" }));
  await clock.advance(laterMs);
  return hf;
}

test("it goes on until nothing is left to wipe, and tells after each step how many it has been", async () => {
  const hf = await settled(250, 31 * DAY_MS);
  const told: Pruned[] = [];
  expect(await hf.prune({ onProgress: (soFar) => told.push(soFar) })).toEqual({
    payloads: 250,
    tombstones: 0,
  });
  expect(told.map(({ payloads }) => payloads)).toEqual([100, 200, 250]);
  expect(await hf.prune()).toEqual({ payloads: 0, tombstones: 0 });
});

test("results and tombstones of one step are counted together", async () => {
  const hf = await settled(150, 31 * DAY_MS);
  const told: Pruned[] = [];
  const onProgress = (soFar: Pruned) => told.push(soFar);
  const pruned = await hf.prune({ tombstonesOlderThanMs: DAY_MS, onProgress });
  expect(pruned.tombstones).toBe(150);
  expect(told.at(-1)).toEqual(pruned);
  expect((await hf.operations.list()).items).toEqual([]);
});

test("a signal ends it between two steps, and what was wiped stays wiped", async () => {
  const hf = await settled(250, 31 * DAY_MS);
  const stop = new AbortController();
  const pruned = await hf.prune({ signal: stop.signal, onProgress: () => stop.abort() });
  expect(pruned).toEqual({ payloads: 100, tombstones: 0 });
  expect(await hf.prune()).toEqual({ payloads: 150, tombstones: 0 });
});

test("what onProgress throws ends it", async () => {
  const hf = await settled(250, 31 * DAY_MS);
  const full = new Error("the disk is full");
  const onProgress = () => {
    throw full;
  };
  await expect(hf.prune({ onProgress })).rejects.toBe(full);
  expect(await hf.prune()).toEqual({ payloads: 150, tombstones: 0 });
});

test("a result is kept for thirty days, unless another time is asked for; that may be for ever", async () => {
  const hf = await settled(3, 29 * DAY_MS);
  expect(await hf.prune()).toEqual({ payloads: 0, tombstones: 0 });
  expect(await hf.prune({ payloadsOlderThanMs: 28 * DAY_MS })).toEqual({
    payloads: 3,
    tombstones: 0,
  });
  const old = await settled(3, 365 * DAY_MS);
  const forEver = { payloadsOlderThanMs: Infinity, tombstonesOlderThanMs: Infinity };
  expect(await old.prune(forEver)).toEqual({ payloads: 0, tombstones: 0 });
});

test.each([
  [{ payloadsOlderThanMs: 0 }, "prune.payloadsOlderThanMs"],
  [{ tombstonesOlderThanMs: -1 }, "prune.tombstonesOlderThanMs"],
  [{ tombstonesOlderThanMs: Number.NaN }, "prune.tombstonesOlderThanMs"],
  [{ olderThanMs: 1 }, "prune.olderThanMs"],
])("refuses %j", async (options, path) => {
  const hf = await settled(1, DAY_MS);
  const pruning = hf.prune(options as never);
  await expect(pruning).rejects.toThrow(InvalidInputError);
  await expect(pruning).rejects.toThrow(path);
  expect(await hf.operations.list()).toMatchObject({ items: [{ status: "committed" }] });
});
