import { describe, expect, test } from "vitest";
import {
  aheadOf,
  isInLane,
  laneAlone,
  leaveLane,
  occupantsOf,
  queueUp,
  reenterLane,
  shareLane,
  takeLane,
} from "../../src/ledger/lane.ts";
import { createLedger, type Ledger } from "../../src/ledger/ledger.ts";
import type { LaneRecord, Store } from "../../src/ledger/store.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { virtualClock } from "../engine/virtual-clock.ts";

const EMPTY: LaneRecord = { queue: [] };
const NOW = 1_000;

test("one that is open after all is back in its lane, beside whoever has entered meanwhile", () => {
  const waiting = queueUp(EMPTY, "next", NOW + 10, NOW);
  expect(reenterLane(waiting, "back")).toEqual({ ...waiting, holder: "back" });
  const taken = reenterLane({ ...waiting, holder: "other" }, "back") ?? EMPTY;
  expect(occupantsOf(taken)).toEqual(["other", "back"]);
  expect(leaveLane(taken, "other")).toEqual({ ...waiting, holder: "back" });
});

describe("the queue", () => {
  test("is kept in the order in which they came, and a renewed ticket keeps its place", () => {
    let lane = EMPTY;
    for (const id of ["a", "b", "c"]) lane = queueUp(lane, id, NOW + 10, NOW);
    lane = queueUp(lane, "a", NOW + 50, NOW);
    expect(lane.queue.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    expect(aheadOf(lane, "a", NOW)).toBeUndefined();
    expect(aheadOf(lane, "c", NOW)).toBe("a");
    expect(aheadOf(lane, "stranger", NOW)).toBe("a");
    expect(aheadOf(EMPTY, "a", NOW)).toBeUndefined();
    expect(lane.queue[0]).toEqual({ id: "a", until: NOW + 50 });
  });

  test("passes over a ticket whose time has passed, and drops it", () => {
    const lane = queueUp(queueUp(EMPTY, "dead", NOW, NOW - 1), "next", NOW + 10, NOW);
    expect(aheadOf(lane, "next", NOW)).toBeUndefined();
    expect(lane.queue.map(({ id }) => id)).toEqual(["next"]);
    const kept = { queue: [{ id: "dead", until: NOW }, ...lane.queue] };
    expect(aheadOf(kept, "stranger", NOW)).toBe("next");
  });

  test("takes no more than it can hold", () => {
    let lane = EMPTY;
    for (let n = 0; n < 500; n += 1) lane = queueUp(lane, `w${n}`, NOW + 10, NOW);
    expect(lane.queue).toHaveLength(128);
    expect(lane.queue[0]?.id).toBe("w0");
  });
});

describe("entering and leaving", () => {
  test("who takes the lane gives its ticket back", () => {
    const queued = queueUp(queueUp(EMPTY, "a", NOW + 10, NOW), "b", NOW + 10, NOW);
    expect(takeLane(queued, "a", NOW)).toEqual({
      holder: "a",
      queue: [{ id: "b", until: NOW + 10 }],
    });
  });

  test("the last to leave takes the lane away", () => {
    expect(leaveLane(takeLane(EMPTY, "a", NOW), "a")).toBeUndefined();
    expect(occupantsOf(EMPTY)).toEqual([]);
  });

  test("who leaves gives back its ticket, and the others keep theirs", () => {
    const queued = queueUp(queueUp(EMPTY, "a", NOW + 10, NOW), "b", NOW + 10, NOW);
    expect(leaveLane({ ...queued, holder: "a" }, "a")).toEqual({
      queue: [{ id: "b", until: NOW + 10 }],
    });
  });

  test("an outer operation leaves the lane to those inside it", () => {
    const shared = shareLane(takeLane(EMPTY, "outer", NOW), "inner") ?? EMPTY;
    expect(isInLane(shared, "inner")).toBe(true);
    expect(occupantsOf(shared)).toEqual(["outer", "inner"]);
    expect(leaveLane(shared, "outer")).toEqual({ holder: "inner", queue: [] });
    expect(leaveLane(shared, "inner")).toEqual({ holder: "outer", queue: [] });
    const two = shareLane(shared, "second") ?? EMPTY;
    expect(leaveLane(two, "outer")).toEqual({ holder: "inner", inner: ["second"], queue: [] });
  });

  test("those inside are counted: beyond that there is no entry", () => {
    let lane: LaneRecord | undefined = takeLane(EMPTY, "outer", NOW);
    for (let n = 0; n < 32; n += 1) lane = shareLane(lane ?? EMPTY, `i${n}`);
    expect(lane?.inner).toHaveLength(32);
    expect(shareLane(lane ?? EMPTY, "one more")).toBeUndefined();
    expect(shareLane(lane ?? EMPTY, "i3")).toBe(lane);
  });
});

describe("a ledger whose operation is settled", () => {
  const NAME = "record/1";
  const clock = virtualClock();
  const claimed = recordOf({ resource: NAME, state: { tag: "claimed", holder: "me" }, epoch: 1 });
  const settle = {
    move: "settle",
    epoch: 1,
    holder: "me",
    state: { tag: "committed", via: "reply" },
    updates: [],
    at: 1,
  } as const;

  const ledgerOn = (store: Store): Ledger =>
    createLedger({
      store,
      clock,
      witness: memoryWitness(),
      onSuspect: () => {},
      onWitnessError: () => {},
    });

  async function prepare() {
    const store = memoryStore({ now: clock.now, forgets: "accepted" });
    const lane = { name: NAME, expect: 0, lane: { holder: claimed.id, queue: [] } };
    const { tenant, id } = claimed;
    await store.swap({ tenant, id, expect: 0, record: claimed, lease: 60_000, lane });
    return { store, ref: { tenant, id } };
  }

  test("leaves the lane, though it never saw it before and others have queued", async () => {
    const { store, ref } = await prepare();
    const found = (await store.readLane(ref.tenant, NAME)).stored;
    const lane = queueUp(found?.lane ?? EMPTY, "waiter", 9e15, 0);
    await store.swap(laneAlone(ref.tenant, { name: NAME, expect: found?.version ?? 0, lane }));
    await ledgerOn(store).move(ref, settle);
    const left = (await store.readLane(ref.tenant, NAME)).stored;
    expect(left?.lane).toEqual({ queue: [{ id: "waiter", until: 9e15 }] });
  });

  test("is settled also where the lane changes all the time", async () => {
    const { store, ref } = await prepare();
    let tries = 0;
    const busy: Store = {
      ...store,
      async swap(change) {
        if (change.lane && change.record) {
          tries += 1;
          const found = (await store.readLane(ref.tenant, NAME)).stored;
          const lane = queueUp(found?.lane ?? EMPTY, `w${tries}`, 9e15, 0);
          const expect = found?.version ?? 0;
          await store.swap(laneAlone(ref.tenant, { name: NAME, expect, lane }));
        }
        return store.swap(change);
      },
    };
    const moved = await ledgerOn(busy).move(ref, settle);
    expect(moved).toMatchObject({ tag: "moved", stored: { record: { state: settle.state } } });
    expect(tries).toBeGreaterThan(1);
    expect(tries).toBeLessThan(20);
  });

  test("does not touch a lane that is another's", async () => {
    const { store, ref } = await prepare();
    const found = (await store.readLane(ref.tenant, NAME)).stored;
    const lane = { holder: "another", queue: [] };
    await store.swap(laneAlone(ref.tenant, { name: NAME, expect: found?.version ?? 0, lane }));
    await ledgerOn(store).move(ref, settle);
    expect((await store.readLane(ref.tenant, NAME)).stored?.lane).toEqual(lane);
  });

  test("keeps the lane while it is unknown", async () => {
    const { store, ref } = await prepare();
    const unknown = { ...settle, state: { tag: "unknown", reason: "lost_reply" } } as const;
    await ledgerOn(store).move(ref, unknown);
    expect((await store.readLane(ref.tenant, NAME)).stored?.lane.holder).toBe(ref.id);
  });
});
