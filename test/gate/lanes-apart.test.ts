import { expect, test } from "vitest";
import { laneAlone } from "../../src/ledger/lane.ts";
import type { Change, LaneRecord, Store, Swapped } from "../../src/ledger/store.ts";
import { createChance } from "../battery/world/chance.ts";
import { nameOf, openLanes, TENANT } from "./lane-world.ts";

/**
 * A record and its lane are two moves here, as in a cluster, and anything may come in between: who
 * enters writes the lane first, who leaves the record.
 */
function apart(inner: Store, pause: () => Promise<void>, lanesApart: boolean): Store {
  async function swap(change: Change): Promise<Swapped> {
    const { lane, tenant, id } = change;
    if (!lane || (change.expect === 0 && !change.record)) return inner.swap(change);
    const alone = { ...change, lane: undefined };
    const { holder, inner: others = [] } = lane.lane ?? {};
    if (holder === id || others.includes(id)) {
      const entered = await inner.swap(laneAlone(tenant, lane));
      await pause();
      if (entered.ok) return inner.swap(alone);
      const { stored: current, now } = await inner.read(tenant, id);
      return { ...entered, current, now };
    }
    const swapped = await inner.swap(alone);
    await pause();
    if (swapped.ok) await inner.swap(laneAlone(tenant, lane));
    return swapped;
  }
  const slow =
    <A extends unknown[], R>(call: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      await pause();
      const answer = await call(...given);
      await pause();
      return answer;
    };
  return {
    ...inner,
    lanesApart,
    swap: slow(swap),
    read: slow(inner.read),
    readLane: slow(inner.readLane),
  };
}

async function crowd(seed: number, lanesApart: boolean): Promise<{ most: number; done: number }> {
  const world = openLanes();
  const chance = createChance(seed);
  world.takesMs = 20;
  const pause = (): Promise<void> =>
    new Promise((resolve) => world.clock.after(chance.between(1, 30), resolve));
  const calls = Array.from({ length: 6 }, (_, index) => {
    const tag = world.tagger(world.holdfire(apart(world.store, pause, lanesApart)));
    return tag.outcome({ record: "r1", tag: `t${index}` }, { scope: `s${index}` });
  });
  const outcomes = await world.clock.run(Promise.all(calls));
  expect(new Set(world.written).size).toBe(world.written.length);
  return {
    most: world.most,
    done: outcomes.filter(({ status }) => status === "committed").length,
  };
}

const SEEDS = Array.from({ length: 20 }, (_, index) => index + 1);

test("where a lane and its record live apart, it never has two holders", async () => {
  for (const seed of SEEDS) {
    expect(await crowd(seed, true), `seed ${seed}`).toEqual({ most: 1, done: 6 });
  }
}, 60_000);

test("and this crowd would find it out", async () => {
  const most: number[] = [];
  for (const seed of SEEDS) most.push((await crowd(seed, false)).most);
  expect(Math.max(...most)).toBeGreaterThan(1);
}, 60_000);

/** Right before an owner makes sure of its lane, another process writes this into it. */
function changedBefore(inner: Store, others: LaneRecord, times: number): Store {
  let left = times;
  const swap = async (change: Change): Promise<Swapped> => {
    const { lane } = change;
    if (lane && change.expect === 0 && !change.record && left > 0) {
      left -= 1;
      const { stored } = await inner.readLane(TENANT, lane.name);
      const version = stored?.version ?? 0;
      const next = { ...stored?.lane, ...others };
      await inner.swap(laneAlone(TENANT, { name: lane.name, expect: version, lane: next }));
    }
    return inner.swap(change);
  };
  return { ...inner, lanesApart: true, swap };
}

/** The holder of the lane at the time of each run, and what became of the call. */
async function runWith(others: LaneRecord, times: number) {
  const world = openLanes();
  const holders: (string | undefined)[] = [];
  const tag = world.holdfire(changedBefore(world.store, others, times)).tool({
    name: "tag",
    kind: "write",
    resource: (_: object) => nameOf("r1"),
    run: async (_: object) => {
      const { stored } = await world.store.readLane(TENANT, nameOf("r1"));
      holders.push(stored?.lane.holder);
      return "tagged";
    },
  });
  const outcome = await world.clock.run(tag.outcome({}, { scope: "s", deadlineMs: 20_000 }));
  return { outcome, holders };
}

test("an owner whose lane another has taken, right before it made sure of it, sends nothing until it has it again", async () => {
  const { outcome, holders } = await runWith({ holder: "another", queue: [] }, 1);
  expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
  expect(holders).toEqual([outcome.id]);
});

test("an owner whose lane has changed, and is still its own, looks again and sends", async () => {
  const { outcome, holders } = await runWith({ queue: [] }, 3);
  expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
  expect(holders).toEqual([outcome.id]);
});
