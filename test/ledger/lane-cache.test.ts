/** Lanes as a process remembers them, so that most moves need not read them. */
import { describe, expect, test } from "vitest";
import { laneCache } from "../../src/ledger/lane-cache.ts";
import type { OperationRecord, State } from "../../src/ledger/record.ts";
import type { StoredLane } from "../../src/ledger/store.ts";
import { claimOf, recordOf } from "../../src/testing/record-of.ts";
import { claimed, id, REF, settle, setUp, tenant } from "./ledger-on-memory.ts";

const NAME = "record/1";
const laneOf = (holder: string, version = 1): StoredLane => ({
  lane: { holder, queue: [] },
  version,
});

describe("lanes that a process remembers", () => {
  const cacheOn = (lane?: StoredLane) => {
    let reads = 0;
    const cache = laneCache(async () => {
      reads += 1;
      return lane;
    });
    return { cache, reads: () => reads };
  };

  test("are those of one tenant and name", () => {
    const { cache } = cacheOn();
    cache.remember("ab", "c", laneOf("x"));
    expect(cache.get("ab", "c")).toEqual(laneOf("x"));
    expect(cache.get("a", "bc")).toBeUndefined();
    expect(cache.get("ab", "d")).toBeUndefined();
  });

  test("are forgotten once they are gone", () => {
    const { cache } = cacheOn();
    cache.remember(tenant, NAME, laneOf("x"));
    cache.remember(tenant, NAME, laneOf("x", 0));
    expect(cache.get(tenant, NAME)).toBeUndefined();
  });

  test("are a thousand at most, those that were seen last", () => {
    const { cache } = cacheOn();
    const names = Array.from({ length: 1_000 }, (_, n) => `lane ${n}`);
    for (const name of names) cache.remember(tenant, name, laneOf("x"));
    cache.remember(tenant, "lane 0", laneOf("y"));
    expect(names.every((name) => cache.get(tenant, name))).toBe(true);
    cache.remember(tenant, "one more", laneOf("x"));
    expect(names.filter((name) => !cache.get(tenant, name))).toEqual(["lane 1"]);
  });

  const swapped = { ok: true, leaseUntil: undefined, now: 0, sequence: 9 } as const;
  const change = { name: NAME, expect: 0, lane: laneOf("x").lane };

  test("are taken from the answers to changes: as they were written, or as they are instead", () => {
    const { cache } = cacheOn();
    cache.onSwapped(change, tenant, { ...swapped, version: 8 });
    expect(cache.get(tenant, NAME)).toEqual(laneOf("x", 8));
    // A change of the lane alone has no version of a record.
    cache.onSwapped(change, tenant, { ...swapped, version: 0 });
    expect(cache.get(tenant, NAME)).toEqual(laneOf("x", 9));
    const refused = { ok: false, current: undefined, now: 0 } as const;
    cache.onSwapped(change, tenant, refused);
    expect(cache.get(tenant, NAME)).toEqual(laneOf("x", 9));
    cache.onSwapped(change, tenant, { ...refused, lane: laneOf("z", 10) });
    expect(cache.get(tenant, NAME)).toEqual(laneOf("z", 10));
    cache.onSwapped({ ...change, lane: undefined }, tenant, { ...swapped, version: 11 });
    expect(cache.get(tenant, NAME)).toBeUndefined();
  });

  const open = recordOf({ resource: NAME });
  const withState = (state: State): OperationRecord => ({ ...open, state });
  const done = withState({ tag: "committed", via: "reply" });

  test("are left by a record that is settled, given up or removed", async () => {
    const { cache, reads } = cacheOn(laneOf(id, 4));
    const left = { name: NAME, expect: 4, lane: undefined };
    expect(await cache.changeWith(open, done, 0)).toEqual(left);
    expect(await cache.changeWith(open, undefined, 0)).toEqual(left);
    const givenUp = withState({ tag: "unknown", reason: "abandoned" });
    expect(await cache.changeWith(open, givenUp, 0)).toEqual(left);
    expect(reads()).toBe(3);
    cache.remember(tenant, NAME, laneOf(id, 5));
    expect(await cache.changeWith(open, done, 0)).toEqual({ ...left, expect: 5 });
    expect(reads()).toBe(3);
  });

  test("are left as they are by a record that stays in, or has none, or is not in it", async () => {
    const { cache, reads } = cacheOn(laneOf(id));
    expect(await cache.changeWith(open, open, 0)).toBeUndefined();
    const unknown = withState({ tag: "unknown", reason: "lost_reply" });
    expect(await cache.changeWith(open, unknown, 0)).toBeUndefined();
    expect(await cache.changeWith(done, done, 0)).toBeUndefined();
    expect(await cache.changeWith(done, undefined, 0)).toBeUndefined();
    expect(await cache.changeWith({ ...open, resource: undefined }, done, 0)).toBeUndefined();
    expect(reads()).toBe(0);
    expect(await cacheOn(laneOf("x")).cache.changeWith(open, done, 0)).toBeUndefined();
    expect(await cacheOn().cache.changeWith(open, done, 0)).toBeUndefined();
  });

  test("are left by the record alone once they have changed eight times", async () => {
    const { cache } = cacheOn(laneOf(id));
    expect(await cache.changeWith(open, done, 7)).toBeDefined();
    expect(await cache.changeWith(open, done, 8)).toBeUndefined();
  });

  test("are read before a record that is open again is back in one: memory may be older", async () => {
    const { cache, reads } = cacheOn();
    cache.remember(tenant, NAME, laneOf(id));
    const back = { name: NAME, expect: 0, lane: { holder: id, queue: [] } };
    expect(await cache.changeWith(done, open, 0)).toEqual(back);
    expect(reads()).toBe(1);
    expect(await cacheOn(laneOf(id)).cache.changeWith(done, open, 0)).toBeUndefined();
  });

  test("have no place for a record that is back if too many are in", async () => {
    const inner = Array.from({ length: 32 }, (_, n) => `inner ${n}`);
    const full = { lane: { holder: "x", inner, queue: [] }, version: 3 };
    expect(await cacheOn(full).cache.changeWith(done, open, 0)).toBeUndefined();
  });
});

describe("the lane of an operation", () => {
  const NAME = "record/1";
  const claim = claimOf();
  const { draft } = claim;
  const inLane = { ...claim, draft: { ...draft, identity: { ...draft.identity, resource: NAME } } };
  const take = (expected = 0, holder = id) => ({
    name: NAME,
    expect: expected,
    lane: { holder, queue: [] },
  });

  test("is taken with the claim and left with the settle, without a read", async () => {
    const { ledger, asked } = setUp();
    const moved = await ledger.move(REF, inLane, undefined, take());
    expect(ledger.guessLane(tenant, NAME)?.lane).toEqual({ holder: id, queue: [] });
    await ledger.move(REF, settle, moved.tag === "moved" ? moved.stored : undefined);
    expect(asked).toEqual(["swap", "swap"]);
    expect(await ledger.readLane(tenant, NAME)).toBeUndefined();
    expect(ledger.guessLane(tenant, NAME)).toBeUndefined();
  });

  test("that another has taken stops the claim, and nothing is written", async () => {
    const { ledger, store } = setUp();
    expect(await ledger.changeLane(tenant, take(0, "another"))).toBe(true);
    expect(await ledger.changeLane(tenant, take(0, "third"))).toBe(false);
    const stopped = await ledger.move(REF, inLane, undefined, take());
    expect(stopped).toMatchObject({ tag: "lane", lane: { lane: { holder: "another" } } });
    expect((await store.read(tenant, id)).stored).toBeUndefined();
  });

  test("is asked for in vain where the record has changed too: that decides first", async () => {
    const setting = setUp();
    const stored = await claimed(setting);
    await setting.ledger.changeLane(tenant, take(0, "another"));
    const other = { ...inLane, holder: "holder-2" };
    const both = setUp(() => ({
      swap: async () => ({ ok: false, current: stored, lane: { ...take(), version: 2 }, now: 1 }),
      read: setting.store.read,
    }));
    expect(await both.ledger.move(REF, other, undefined, take())).toMatchObject({
      tag: "refused",
      why: "busy",
    });
  });

  test("is left alone by a ledger that leaves none: the settled record frees it", async () => {
    const { ledger, store } = setUp(undefined, { leavesLanes: false });
    await ledger.move(REF, inLane, undefined, take());
    await ledger.move(REF, settle);
    expect((await store.readLane(tenant, NAME)).stored?.lane.holder).toBe(id);
  });
});
