import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/engine/operation/outcome.ts";
import { waiting } from "./bucket.ts";
import { openLanes, type Tag, TENANT } from "./lane-world.ts";

const shipping: Tag = { record: "p1", tag: "refund shipping" };
const first: Tag = { record: "p1", tag: "refund 400" };
const reworded: Tag = { record: "p1", tag: "refund 400.00" };

/** Each run is a process of its own. */
function openRuns(options: object = {}) {
  const world = openLanes();
  const { clock, store } = world;
  async function run(name: string, ...calls: Tag[]) {
    const hf = world.holdfire();
    const tag = world.tagger(hf, { onDrift: undefined, ...options });
    const outcomes: Outcome<string>[] = [];
    const all = async () => {
      for (const args of calls) outcomes.push(await tag.outcome(args));
    };
    await clock.run(hf.scope("turn-3", all, { run: name }));
    return { hf, outcomes };
  }
  /** As pruning does, and a claim that is withdrawn. */
  async function forget(id: string) {
    const { stored } = await store.read(TENANT, id);
    const expected = stored?.version ?? 0;
    await store.swap({ tenant: TENANT, id, expect: expected, record: undefined, lease: "none" });
  }
  return { world, run, forget };
}

const DRIFTS = { status: "held", reason: "drift" };

describe("one that was held for drift", () => {
  test("and done after a person's yes is compared with what comes later", async () => {
    const { world, run } = openRuns();
    await run("1", shipping);
    const { hf, outcomes } = await run("2", first);
    expect(outcomes).toMatchObject([DRIFTS]);
    const { operation, digest } = await waiting(hf);
    await hf.approvals.approve(operation.id, { by: "ana", digest });
    expect((await run("2b", first)).outcomes).toMatchObject([{ status: "committed" }]);
    const last = await run("3", shipping, reworded);
    expect(last.outcomes).toMatchObject([{ replayed: true }, DRIFTS]);
    expect(world.written).toEqual([shipping.tag, first.tag]);
  });

  test("and still waits for a person holds the next", async () => {
    const { world, run } = openRuns();
    await run("1", shipping);
    await run("2", first);
    const last = await run("3", shipping, reworded);
    expect(last.outcomes).toMatchObject([{ replayed: true }, DRIFTS]);
    expect(world.written).toEqual([shipping.tag]);
  });

  test("takes no place where its tool refuses it: there is nothing to compare", async () => {
    const { world, run } = openRuns({ onDrift: "refuse" });
    await run("1", shipping);
    const before = world.store.asked.length;
    expect((await run("2", first)).outcomes).toMatchObject([{ status: "denied", by: "onDrift" }]);
    const since = world.store.asked.slice(before);
    // It asks for the first place, which is taken, and for no other.
    expect(since.filter((step) => step === "own")).toHaveLength(1);
  });
});

describe("one that came to nothing", () => {
  const fails = { attempts: 1, classify: () => "not_sent" };

  test("is compared with what was done since, in other words", async () => {
    const { world, run } = openRuns(fails);
    world.fates.push("refuse");
    expect((await run("1", first)).outcomes).toMatchObject([{ status: "not_applied" }]);
    await world.clock.advance(31_000);
    expect((await run("2", reworded)).outcomes).toMatchObject([{ status: "committed" }]);
    expect((await run("3", first)).outcomes).toMatchObject([DRIFTS]);
    expect(world.written).toEqual([reworded.tag]);
  });

  test("is compared with one that was asked about since", async () => {
    const { world, run } = openRuns(fails);
    world.fates.push("refuse");
    await run("1", first);
    await run("2", shipping);
    expect((await run("3", reworded)).outcomes).toMatchObject([DRIFTS]);
    await world.clock.advance(31_000);
    expect((await run("4", shipping, first)).outcomes).toMatchObject([{ replayed: true }, DRIFTS]);
    expect(world.written).toEqual([shipping.tag]);
  });

  test("goes where both were made in one run before", async () => {
    const { world, run } = openRuns(fails);
    world.fates.push("refuse");
    await run("1", first, shipping);
    await world.clock.advance(31_000);
    expect((await run("2", first)).outcomes).toMatchObject([{ status: "committed" }]);
    expect(world.written).toEqual([shipping.tag, first.tag]);
  });
});

test("one that came to nothing again, in a run of its own, goes where both were made in one before", async () => {
  const { world, run } = openRuns({ attempts: 1, classify: () => "not_sent" });
  world.fates.push("refuse", "commit", "refuse");
  await run("1", first, shipping);
  await world.clock.advance(31_000);
  expect((await run("2", first)).outcomes).toMatchObject([{ status: "not_applied" }]);
  await world.clock.advance(31_000);
  expect((await run("3", first)).outcomes).toMatchObject([{ status: "committed" }]);
  expect(world.written).toEqual([shipping.tag, first.tag]);
});

describe("places that were given back", () => {
  test("by pruning hide nothing that was done later", async () => {
    const { world, run } = openRuns();
    const { clock } = world;
    const old: Tag[] = [shipping, { record: "p1", tag: "refund tax" }];
    await run("1", ...old);
    await clock.advance(40 * 86_400_000);
    const { hf } = await run("2", ...old, first);
    const pruned = await hf.prune({ tombstonesOlderThanMs: 30 * 86_400_000 });
    expect(pruned.tombstones).toBe(2);
    expect((await run("3", reworded)).outcomes).toMatchObject([DRIFTS]);
    expect(world.written).toHaveLength(3);
  });

  const MADE = 7;
  const tags = Array.from({ length: MADE }, (_, n): Tag => ({ record: "p1", tag: `t${n}` }));

  test(`hide none of those that are left, whichever of ${MADE} are gone`, async () => {
    for (let gone = 0; gone < 2 ** MADE; gone += 1) {
      const { world, run, forget } = openRuns();
      const made = (await run("1", ...tags)).outcomes;
      const isGone = (n: number) => (gone & (1 << n)) !== 0;
      for (const [n, { id }] of made.entries()) if (isGone(n)) await forget(id);
      const isAnyLeft = gone !== 2 ** MADE - 1;
      // Only the last of those that are left has not been repeated.
      const left = tags.filter((_, n) => !isGone(n));
      const { outcomes } = await run("2", ...left.slice(0, -1), reworded);
      const seen = { gone, ...outcomes.at(-1) };
      expect(seen).toMatchObject({ gone, status: isAnyLeft ? "held" : "committed" });
      expect(world.written).toHaveLength(MADE + (isAnyLeft ? 0 : 1));
    }
  });

  test("are taken again, and who takes one is found there", async () => {
    const { run, forget } = openRuns();
    const made = (await run("1", ...tags)).outcomes;
    for (const { id } of made) await forget(id);
    expect((await run("2", first)).outcomes).toMatchObject([{ status: "committed" }]);
    expect((await run("3", reworded)).outcomes).toMatchObject([DRIFTS]);
    expect((await run("4", first)).outcomes).toMatchObject([{ replayed: true }]);
  });

  test("cost a first write nothing: it asks for one place, and looks at the next", async () => {
    const { world, run } = openRuns();
    await run("1", first);
    expect(world.store.asked.filter((step) => step.startsWith("own"))).toEqual(["own", "ownerOf"]);
  });
});

test("one that keeps its place sees those behind a place that was given back", async () => {
  const { world, run, forget } = openRuns({ attempts: 1, classify: () => "not_sent" });
  world.fates.push("commit", "refuse");
  expect((await run("1", shipping, first)).outcomes).toMatchObject([{}, { status: "not_applied" }]);
  const tax: Tag = { record: "p1", tag: "refund tax" };
  const { outcomes } = await run("2", shipping, tax, reworded);
  expect(outcomes).toMatchObject([{ replayed: true }, { status: "committed" }, {}]);
  await forget(outcomes[1]?.id ?? "");
  await world.clock.advance(31_000);
  expect((await run("3", shipping, first)).outcomes).toMatchObject([{ replayed: true }, DRIFTS]);
  expect(world.written).toEqual([shipping.tag, tax.tag, reworded.tag]);
});

test("one that came to nothing when it was looked at is looked at again in the same run", async () => {
  const { world, run } = openRuns({ attempts: 1, classify: () => "not_sent" });
  const { clock } = world;
  world.fates.push("refuse");
  await run("0", first);
  const hf = world.holdfire();
  const tag = world.tagger(hf, { onDrift: undefined });
  const inRun = (args: Tag) => clock.run(hf.scope("turn-3", () => tag.outcome(args), { run: "1" }));
  expect(await inRun(shipping)).toMatchObject({ status: "committed" });
  await clock.advance(31_000);
  // It is done after all, in another process that has repeated the other.
  expect((await run("2", shipping, first)).outcomes).toMatchObject([
    { replayed: true },
    { status: "committed" },
  ]);
  expect(await inRun(reworded)).toMatchObject(DRIFTS);
  expect(world.written).toEqual([shipping.tag, first.tag]);
});

describe("what a write to a resource costs", () => {
  /** What was asked of the row by each of these writes, in one run. */
  async function costsOf(...calls: Tag[]): Promise<string[][]> {
    const world = openLanes();
    const hf = world.holdfire();
    const tag = world.tagger(hf, { onDrift: undefined });
    const costs: string[][] = [];
    const all = async () => {
      for (const args of calls) {
        const before = world.store.asked.length;
        await tag(args);
        costs.push(world.store.asked.slice(before).filter((step) => step.startsWith("own")));
      }
    };
    await world.clock.run(hf.scope("turn-3", all, { run: "1" }));
    return costs;
  }

  test("each asks for the place after the last that is done, and looks whether the row goes on", async () => {
    const tax: Tag = { record: "p1", tag: "refund tax" };
    const costs = await costsOf(shipping, first, reworded, tax);
    expect(costs[0]).toEqual(["own", "ownerOf"]);
    expect(costs[1]).toEqual(["own", "ownerOf", "own", "ownerOf", "ownerOf"]);
    expect(costs.map((asked) => asked.length)).toEqual([2, 5, 5, 5]);
  });
});
