import { describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { cannotTell } from "../../src/engine/define/reading.ts";
import { StoreUnavailableError } from "../../src/errors.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { until, virtualClock } from "../engine/virtual-clock.ts";
import { keysOf, openWorld, TEA, type World } from "./world.ts";

/** A turn of the same conversation. */
const turn = <T>(hf: Holdfire, name: string, fn: () => Promise<T>): Promise<T> =>
  hf.scope({ thread: "chat-7", turn: name }, fn);

async function lostOnce(options?: Parameters<typeof openWorld>[0]) {
  const world = await openWorld(options);
  world.service.plan(faults.commitThenReset());
  const say = (name: string, tool = world.order("neither"), hf = world.hf) =>
    world.pass(turn(hf, name, () => tool.outcome(TEA)));
  return { ...world, say };
}

const resolve = async ({ hf, pass }: World, as: "committed" | "not_applied") => {
  const [open] = (await hf.operations.list({ status: ["unknown"] })).items;
  await pass(hf.operations.resolve(open?.id ?? "", { as, by: "ana" }));
};

describe("the same intent in a later turn of the thread, while it is unknown", () => {
  test("is the same operation: nothing is sent, and there is no second row", async () => {
    const { say, service, hf } = await lostOnce();
    const first = await say("1");
    const second = await say("2");
    expect(second).toMatchObject({ status: "unknown", id: first.id, key: first.key });
    expect(service.effects).toHaveLength(1);
    expect((await hf.operations.list()).items).toHaveLength(1);
  });

  test("also in another process", async () => {
    const { say, service, another, order } = await lostOnce();
    await say("1");
    const hf = another();
    expect(await say("2", order("neither", {}, hf), hf)).toMatchObject({ status: "unknown" });
    expect(service.effects).toHaveLength(1);
  });

  test("and after a crash, when its owner was told nothing", async () => {
    const { service, order, pass, another, clock, hf: living } = await openWorld();
    // Its clock stands still: it renews nothing, and says nothing.
    const dead = another({ surroundings: { clock: virtualClock(), random: () => 0.5 } });
    let fired = false;
    const hang = (): Promise<never> => {
      fired = true;
      return new Promise(() => {});
    };
    const hangs = order("neither", { run: hang }, dead);
    void turn(dead, "1", () => hangs.outcome(TEA));
    await until(() => fired);
    await clock.advance(120_000);
    const later = await pass(turn(living, "2", () => order("neither").outcome(TEA)));
    expect(later).toMatchObject({ status: "unknown" });
    expect(service.arrivals).toHaveLength(0);
  });

  test("is answered with the result, if it was done by then", async () => {
    const { service, hf, order, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    const blind = order("readable", { readState: async () => cannotTell("down") });
    const first = await pass(turn(hf, "1", () => blind.outcome(TEA)));
    expect(first.status).toBe("unknown");
    const sees = order("readable");
    await pass(hf.reconcile());
    const second = await pass(turn(hf, "2", () => sees.outcome(TEA)));
    expect(second).toMatchObject({ status: "committed", replayed: true, id: first.id });
    // Told: asked for once more by a person, it is wanted once more.
    const third = await pass(turn(hf, "3", () => sees.outcome(TEA)));
    expect(third).toMatchObject({ status: "committed", replayed: false });
    expect(service.effects).toHaveLength(2);
    // And what a turn has joined it joins again.
    expect(await pass(turn(hf, "2", () => sees.outcome(TEA)))).toMatchObject({ id: first.id });
    expect(service.effects).toHaveLength(2);
  });

  test("fires that operation, with its own key, where a licence allows it", async () => {
    const { service, hf, order, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    const once = await pass(turn(hf, "1", () => order("keyed", { attempts: 1 }).outcome(TEA)));
    expect(once.status).toBe("unknown");
    const again = await pass(turn(hf, "2", () => order("keyed").outcome(TEA)));
    expect(again).toMatchObject({ status: "committed", licence: "keyed", id: once.id });
    expect(keysOf(service)).toEqual([once.key, once.key]);
    expect(service.effects).toHaveLength(1);
  });

  test("a person said that it did not happen: it fires, with its own key", async () => {
    const world = await lostOnce();
    const first = await world.say("1");
    await resolve(world, "not_applied");
    const second = await world.say("2");
    expect(second).toMatchObject({ status: "committed", licence: "person", key: first.key });
    expect(keysOf(world.service)).toEqual([first.key, first.key]);
  });

  test("a person said that it happened: nothing is sent", async () => {
    const world = await lostOnce();
    await world.say("1");
    await resolve(world, "committed");
    expect(await world.say("2")).toMatchObject({ status: "committed", replayed: true });
    expect(world.service.effects).toHaveLength(1);
  });

  test("also where the first turn took its claim back, and another fired it since", async () => {
    const { service, hf, order, pass, another, store, track } = await openWorld();
    service.plan(faults.commitThenReset());
    const other = another();
    const stop = new AbortController();
    const { swap } = store;
    let swaps = 0;
    const joined = new AbortController();
    Object.assign(store, {
      swap: async (change: Parameters<typeof swap>[0]) => {
        swaps += 1;
        const isFirst = swaps === 1;
        const swapped = await swap(change);
        if (isFirst) await track(until(() => joined.signal.aborted));
        return swapped;
      },
    });
    const tea = order("neither");
    const first = turn(hf, "1", () => tea.outcome(TEA, { signal: stop.signal }));
    await until(() => swaps === 1);
    // Claimed: the second turn joins it and waits; then the first one leaves before anything is sent.
    const second = turn(other, "2", () => order("neither", {}, other).outcome(TEA));
    await until(() => swaps > 1);
    stop.abort();
    joined.abort();
    expect(await pass(first)).toMatchObject({ status: "not_applied", reason: "aborted" });
    expect(await pass(second)).toMatchObject({ status: "unknown" });
    for (const name of ["3", "2", "1"]) {
      expect(await pass(turn(hf, name, () => tea.outcome(TEA)))).toMatchObject({
        status: "unknown",
      });
    }
    expect(service.arrivals).toHaveLength(1);
  });

  test("of many at once none mints another key", async () => {
    const { service, hf, order, pass, another } = await openWorld();
    service.plan(faults.commitThenReset());
    const calls = Array.from({ length: 12 }, (_, n) => {
      const mine = n % 3 === 0 ? hf : another();
      const tool = order("neither", {}, mine);
      return turn(mine, `turn ${n}`, () => tool.outcome(TEA));
    });
    const told = await pass(Promise.all(calls));
    expect(new Set(told.map(({ id }) => id)).size).toBe(1);
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("another turn is another operation", () => {
  test("once the caller was told that the first is done", async () => {
    const { service, hf, order, pass } = await openWorld();
    const tea = order("neither");
    for (const name of ["1", "2", "3", "2"]) await pass(turn(hf, name, () => tea.outcome(TEA)));
    expect(service.effects).toHaveLength(3);
  });

  test("once the service has said no", async () => {
    const { service, hf, order, pass } = await openWorld();
    service.plan(faults.status({ status: 402 }));
    const tea = order("neither", { classify: () => "rejected" });
    expect(await pass(turn(hf, "1", () => tea.outcome(TEA)))).toMatchObject({
      status: "not_applied",
    });
    expect(await pass(turn(hf, "2", () => tea.outcome(TEA)))).toMatchObject({
      status: "committed",
    });
  });

  test("in another thread, in another nested scope, and where no thread is named", async () => {
    const { service, hf, order, pass } = await openWorld();
    service.always(faults.commitThenReset());
    const tea = order("neither");
    await pass(turn(hf, "1", () => tea.outcome(TEA)));
    await pass(hf.scope({ thread: "chat-8", turn: "1" }, () => tea.outcome(TEA)));
    await pass(turn(hf, "2", () => hf.scope("ana", () => tea.outcome(TEA))));
    await pass(turn(hf, "2", () => hf.scope("bo", () => tea.outcome(TEA))));
    await pass(tea.outcome(TEA, { scope: "chat-7/turn-3" }));
    await pass(tea.outcome(TEA, { scope: "chat-7/turn-4" }));
    expect(service.effects).toHaveLength(6);
    await pass(turn(hf, "3", () => hf.scope("bo", () => tea.outcome(TEA))));
    expect(service.effects).toHaveLength(6);
  });

  test("in scopes that end in ids of the caller's own, whatever these look like", async () => {
    const { service, hf, order, pass } = await openWorld();
    service.always(faults.commitThenReset());
    const tea = order("neither");
    for (const id of [
      "dbe21077-5c7a-4c33-9e0f-0b6c1a2d3e4f",
      "230fbe5e-c64f-460f-861a-8bf37923aace",
    ]) {
      await pass(hf.scope(`chat-7/turn-${id}`, () => tea.outcome(TEA)));
    }
    expect(service.effects).toHaveLength(2);
  });

  test("where it is wanted once more on purpose", async () => {
    const { say, service, hf, order, pass } = await lostOnce();
    await say("1");
    const tea = order("neither");
    await pass(turn(hf, "2", () => tea.outcome(TEA, { again: "a second cup" })));
    expect(service.effects).toHaveLength(2);
  });

  test("and one that is held waits for one answer, whichever turn asks for it", async () => {
    const { service, hf, order, pass } = await openWorld();
    const drop = order("neither", { kind: "destructive" });
    for (const name of ["1", "2"]) {
      const held = await pass(turn(hf, name, () => drop.outcome(TEA)));
      expect(held).toMatchObject({ status: "held", reason: "approval" });
    }
    const { items } = await hf.approvals.list();
    expect(items).toHaveLength(1);
    const [{ operation, digest } = { operation: { id: "" }, digest: "" }] = items;
    await hf.approvals.approve(operation.id, { digest, by: "ana" });
    for (const name of ["2", "1"]) {
      const done = await pass(turn(hf, name, () => drop.outcome(TEA)));
      expect(done).toMatchObject({ status: "committed", id: operation.id });
    }
    expect(service.effects).toHaveLength(1);
  });
});

test("a store that does not answer ends the call at its deadline, and nothing is sent", async () => {
  const { service, hf, order, pass, store, clock } = await openWorld();
  Object.assign(store, { ownerOf: () => new Promise(() => {}) });
  const before = clock.monotonic();
  const call = turn(hf, "1", () => order("neither").outcome(TEA, { deadlineMs: 2_000 }));
  await expect(pass(call)).rejects.toBeInstanceOf(StoreUnavailableError);
  expect(clock.monotonic() - before).toBe(2_000);
  expect(service.arrivals).toHaveLength(0);
});
