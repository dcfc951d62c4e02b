import { expect, test } from "vitest";
import { laneAlone } from "../../src/ledger/lane.ts";
import type { Change, Store, Swapped } from "../../src/ledger/store.ts";
import { createChance } from "../battery/world/chance.ts";
import { openLanes } from "./lane-world.ts";

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
