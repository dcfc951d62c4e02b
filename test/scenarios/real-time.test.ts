/**
 * The same stories on the host's own clock: short, and few.
 *
 * @module
 */

import { afterEach, beforeEach, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import {
  type FaultyService,
  faults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { lookUp } from "./world.ts";

const ONCE = { scope: "s" };
const TIMES = { attemptTimeoutMs: 200, readTimeoutMs: 2_000, deadlineMs: 10_000 };

let service: FaultyService;
let hf: Holdfire;

beforeEach(async () => {
  service = await startFaultyService();
  const store = memoryStore({ forgets: "accepted" });
  hf = createHoldfire({ store, retry: { minDelayMs: 1, maxDelayMs: 2 } });
});

afterEach(async () => {
  await hf.close();
  await service.close();
});

test("a black hole that committed: a keyed tool gets its first result by the same key", async () => {
  service.plan(faults.blackHole({ commit: true }));
  const client = service.client("keyed");
  const order = hf.tool({
    name: "order",
    kind: "write",
    keyed: { forMs: 86_400_000 },
    ...TIMES,
    run: (args: { item: string }, { key, signal }) => client.create(args, { key, signal }),
  });
  const outcome = await order.outcome({ item: "tea" }, ONCE);
  expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
  expect(service.arrivals.map(({ key }) => key)).toEqual([outcome.key, outcome.key]);
  expect(service.effects).toHaveLength(1);
});

test("a commit that comes after the read: one effect, found when the window has passed", async () => {
  service.plan(faults.lateCommit({ afterMs: 30 }));
  const client = service.client("readable");
  const order = hf.tool({
    name: "order",
    kind: "write",
    ...TIMES,
    commitsWithinMs: 300,
    run: (args: { item: string }, { key, signal }) => client.create(args, { key, signal }),
    readState: lookUp(client),
  });
  const outcome = await order.outcome({ item: "tea" }, ONCE);
  expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
  expect(service.effects).toHaveLength(1);
});

test("a reply that comes when the call has ended turns unknown into committed", async () => {
  service.plan(faults.slow({ ms: 500, commit: "before" }));
  const client = service.client("neither");
  const order = hf.tool({
    name: "order",
    kind: "write",
    ...TIMES,
    deadlineMs: 200,
    run: (args: { item: string }) => client.create(args),
  });
  const late: unknown[] = [];
  hf.on("late", (event) => late.push(event));
  const { id, status } = await order.outcome({ item: "tea" }, ONCE);
  expect(status).toBe("in_progress");
  await until(() => late.length > 0);
  await expect.poll(async () => (await hf.operations.get(id))?.status).toBe("committed");
  expect(await order.outcome({ item: "tea" }, ONCE)).toMatchObject({ replayed: true });
  expect(service.arrivals).toHaveLength(1);
});

test("a hundred callers at once are one effect", async () => {
  const client = service.client("neither");
  const order = hf.tool({
    name: "order",
    kind: "write",
    ...TIMES,
    attemptTimeoutMs: 5_000,
    run: (args: { item: string }) => client.create(args),
  });
  const calls = Array.from({ length: 100 }, () => order({ item: "tea" }, ONCE));
  const results = await Promise.all(calls);
  expect(new Set(results.map(({ id }) => id)).size).toBe(1);
  expect(service.arrivals).toHaveLength(1);
});
