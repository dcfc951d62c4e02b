import { describe, expect, test, vi } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { ClosedError, InvalidInputError } from "../../src/errors.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type Fault, faults, readFaults } from "../../src/testing/faulty-service.ts";
import {
  keysOf,
  listen,
  type OrderOptions,
  openWorld,
  TEA,
  type World,
} from "../scenarios/world.ts";

const ONCE = { scope: "s" };
const PROVES: OrderOptions = { commitsWithinMs: 1_000 };

/** Leaves an operation unknown: the reply is lost, and the reader is down. */
async function lose(world: World, fault: Fault, options: OrderOptions = {}, item = "tea") {
  world.service.plan(fault);
  world.service.alwaysRead(readFaults.status());
  const tool = world.order("readable", options);
  const outcome = await world.pass(tool.outcome({ item }, ONCE));
  world.service.alwaysRead(undefined);
  expect(outcome.status).toBe("unknown");
  return outcome;
}

/** A holdfire of another process, with its tool. */
function heir(world: World, options: OrderOptions = {}): Holdfire {
  const hf = world.another();
  world.order("readable", options, hf);
  return hf;
}

/** An owner that fires, and then is not heard of again. */
async function die(world: World, toolClass: "keyed" | "readable", options: OrderOptions = {}) {
  const client = world.client(toolClass);
  const gone = world.order(toolClass, {
    ...options,
    run: async (args, { key }) => {
      await client.create(args, { key });
      return new Promise(() => {});
    },
  });
  void gone.outcome(TEA, ONCE);
  await world.arrived(1);
  await world.clock.settle();
}

/** Past the lease of an owner, by every clock. */
const LONG_MS = 200_000;

describe("settles by reading alone", () => {
  test("what happened is committed, and nothing is sent", async () => {
    const world = await openWorld();
    const { id } = await lose(world, faults.commitThenReset());
    const hf = heir(world);
    const report = await world.pass(hf.reconcile());
    expect(report).toEqual({
      ended: "done",
      checked: 1,
      committed: 1,
      notApplied: 0,
      stillUnknown: [],
      resent: 0,
      skipped: { busy: 0, noTool: {}, otherApp: 0, otherVersion: 0, unreadable: 0 },
      cursor: undefined,
    });
    expect(world.service.arrivals).toHaveLength(1);
    expect(await hf.operations.get(id)).toMatchObject({ status: "committed" });
    // The caller who asks again is given what was found.
    const replay = await world.pass(world.order("readable").outcome(TEA, ONCE));
    expect(replay).toMatchObject({ status: "committed", replayed: true });
    expect(world.service.arrivals).toHaveLength(1);
  });

  test("with ids, only the operations that are named", async () => {
    const world = await openWorld();
    const { id } = await lose(world, faults.commitThenReset());
    const other = await lose(world, faults.commitThenReset(), {}, "coffee");
    const hf = heir(world);
    const missing = "0".repeat(43);
    const report = await world.pass(hf.reconcile({ ids: [id, missing] }));
    expect(report).toMatchObject({ ended: "done", checked: 1, committed: 1 });
    expect(await hf.operations.get(id)).toMatchObject({ status: "committed" });
    expect(await hf.operations.get(other.id)).toMatchObject({ status: "unknown" });
    // Settled by now, so there is nothing to read.
    expect(await world.pass(hf.reconcile({ ids: [id] }))).toMatchObject({ checked: 0 });
    await expect(hf.reconcile({ ids: [id, other.id], limit: 1 })).rejects.toThrow("the limit, 1");
  });

  test("with one object for several passes, each is made with what was in it then", async () => {
    const world = await openWorld();
    const one = await lose(world, faults.commitThenReset());
    const other = await lose(world, faults.commitThenReset(), {}, "coffee");
    const hf = heir(world);
    const what = { ids: [""] };
    const passes = [one, other].map(({ id }) => {
      what.ids[0] = id;
      return world.pass(hf.reconcile(what));
    });
    expect(await Promise.all(passes)).toMatchObject([{ committed: 1 }, { committed: 1 }]);
  });

  test("what is proven absent is not applied", async () => {
    const world = await openWorld();
    const { id } = await lose(world, faults.resetBefore(), PROVES);
    await world.clock.advance(5_000);
    const hf = heir(world, PROVES);
    expect(await world.pass(hf.reconcile())).toMatchObject({ checked: 1, notApplied: 1 });
    expect(await hf.operations.get(id)).toMatchObject({ status: "not_applied", reason: "absent" });
    expect(world.service.arrivals).toHaveLength(1);
  });

  test("an absence without a declared time stays unknown, with its reason", async () => {
    const world = await openWorld();
    const { id, key } = await lose(world, faults.resetBefore());
    const hf = heir(world);
    const { stillUnknown } = await world.pass(hf.reconcile());
    const tool = "order_readable";
    expect(stillUnknown).toEqual([
      { id, key, tool, scope: "s", reason: "absent_unproven", because: undefined },
    ]);
  });

  test("an absence whose time has not come is left to the next pass", async () => {
    const world = await openWorld();
    const later = { commitsWithinMs: 60_000 };
    await lose(world, faults.lateCommit(), later);
    const hf = heir(world, later);
    const early = await world.pass(hf.reconcile());
    expect(early.stillUnknown).toMatchObject([{ reason: "deadline" }]);
    // It did come late.
    world.service.commitLate();
    expect(await world.pass(hf.reconcile())).toMatchObject({ committed: 1 });
  });

  test("the reader is given the intent of the ledger", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset());
    const readState = vi.fn(async () => absent());
    await world.pass(heir(world, { readState }).reconcile());
    expect(readState).toHaveBeenCalledWith(expect.objectContaining({ intent: { item: "tea" } }));
  });

  test("more than one is committed, and said aloud", async () => {
    const world = await openWorld();
    await lose(world, faults.duplicateDelivery(), { classify: () => "unknown", run: lost(world) });
    const hf = heir(world);
    const heard = listen(hf);
    expect(await world.pass(hf.reconcile())).toMatchObject({ committed: 1 });
    expect(heard("duplicate")).toHaveLength(1);
  });
});

/** The effect happens, and its reply is thrown away. */
function lost(world: World): NonNullable<OrderOptions["run"]> {
  return async (args, { key, signal }) => {
    await world.client("readable").create(args, { key, signal });
    throw new Error("lost");
  };
}

describe("a reader that cannot be trusted", () => {
  test("hangs: it is given up in time, and the operation is as it was", async () => {
    const world = await openWorld();
    const { id } = await lose(world, faults.commitThenReset());
    const before = await world.hf.operations.get(id);
    const hf = heir(world, { readState: () => new Promise(() => {}), readTimeoutMs: 700 });
    const began = world.clock.monotonic();
    const { stillUnknown } = await world.pass(hf.reconcile());
    expect(stillUnknown).toMatchObject([{ reason: "cannot_tell" }]);
    expect(world.clock.monotonic() - began).toBeLessThanOrEqual(2 * 700);
    expect(await hf.operations.get(id)).toEqual(before);
  });

  test("throws: it cannot tell", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset());
    const readState = () => {
      throw new Error("no");
    };
    const { stillUnknown } = await world.pass(heir(world, { readState }).reconcile());
    expect(stillUnknown).toMatchObject([{ reason: "cannot_tell" }]);
  });

  test("finds nothing that is known to be there: its absences prove nothing", async () => {
    const world = await openWorld();
    await world.pass(world.order("readable", PROVES).outcome({ item: "rice" }, ONCE));
    await lose(world, faults.commitThenReset(), PROVES);
    await world.clock.advance(5_000);
    // Another account: nothing of ours is in it.
    const hf = heir(world, { ...PROVES, readState: () => absent() });
    const heard = listen(hf);
    const report = await world.pass(hf.reconcile());
    expect(report.stillUnknown).toMatchObject([{ reason: "reader_blind" }]);
    expect(heard("warning", "reader_blind")).toHaveLength(1);
  });

  test("takes another operation's effect for this one's: it cannot tell", async () => {
    const world = await openWorld();
    const rice = await world.pass(world.order("readable").outcome({ item: "rice" }, ONCE));
    if (rice.status !== "committed" || rice.resultLost) throw new Error("not committed");
    await world.store.own("default", "order_readable", rice.result.id, rice.id);
    await lose(world, faults.resetBefore());
    const readState = () => committed(rice.result, { effectId: rice.result.id });
    const { stillUnknown } = await world.pass(heir(world, { readState }).reconcile());
    expect(stillUnknown).toMatchObject([{ reason: "cannot_tell" }]);
  });
});

describe("owners", () => {
  test("a living one is left alone", async () => {
    const world = await openWorld();
    await die(world, "readable");
    const hf = heir(world);
    const report = await world.pass(hf.reconcile());
    expect(report).toMatchObject({ checked: 0, skipped: { busy: 1 } });
    expect((await hf.operations.list()).items).toMatchObject([{ status: "claimed" }]);
    expect(world.service.reads).toHaveLength(0);
  });

  test("a dead one is succeeded, by reading", async () => {
    const world = await openWorld();
    await die(world, "readable");
    world.clock.jump(LONG_MS);
    const hf = heir(world);
    const heard = listen(hf);
    expect(await world.pass(hf.reconcile())).toMatchObject({ committed: 1 });
    expect(heard("takeover")).toHaveLength(1);
    expect(world.service.arrivals).toHaveLength(1);
  });

  test("a dead one of a tool without a reader leaves an unknown, and nothing is sent", async () => {
    const world = await openWorld();
    await die(world, "keyed");
    world.clock.jump(LONG_MS);
    const hf = world.another();
    world.order("keyed", {}, hf);
    const { stillUnknown } = await world.pass(hf.reconcile());
    expect(stillUnknown).toMatchObject([{ reason: "owner_lost", because: "no_reader" }]);
    expect((await hf.operations.list()).items).toMatchObject([{ status: "unknown" }]);
    expect(world.service.arrivals).toHaveLength(1);
  });

  test("several reconcilers share the work: no operation is read twice", async () => {
    const world = await openWorld();
    const items = Array.from({ length: 30 }, (_, index) => `item ${index}`);
    for (const item of items) await lose(world, faults.commitThenReset(), {}, item);
    const before = world.service.reads.length;
    const reports = await world.pass(Promise.all([1, 2, 3].map(() => heir(world).reconcile())));
    const sum = reports.reduce((total, { committed: count }) => total + count, 0);
    expect(sum).toBe(items.length);
    expect(world.service.reads.length - before).toBe(items.length);
  });

  test("what one has just found no answer for is not asked again by another", async () => {
    const world = await openWorld();
    await lose(world, faults.resetBefore());
    const readState = vi.fn(async () => absent());
    const reports = await world.pass(
      Promise.all([heir(world, { readState }).reconcile(), heir(world, { readState }).reconcile()]),
    );
    expect(readState).toHaveBeenCalledTimes(1);
    expect(reports.map(({ checked }) => checked).sort()).toEqual([0, 1]);
  });

  test("a caller who comes meanwhile waits, and is told the same", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset());
    const hf = world.another();
    const tool = world.order("readable", {}, hf);
    const [report, outcome] = await world.pass(
      Promise.all([hf.reconcile(), tool.outcome(TEA, ONCE)]),
    );
    expect(outcome).toMatchObject({ status: "committed" });
    expect(report.checked + report.skipped.busy).toBe(1);
    expect(world.service.arrivals).toHaveLength(1);
  });
});

describe("what changes between the list and the look", () => {
  /** Runs `meanwhile` once: after the open operations were listed, or after one was then read. */
  function interrupted(
    store: Store,
    at: "list" | "read",
    meanwhile: () => Promise<unknown>,
  ): Store {
    let isListed = false;
    let due = true;
    const interrupt = async (): Promise<void> => {
      if (!due) return;
      due = false;
      await meanwhile();
    };
    return Object.assign(Object.create(store) as Store, {
      list: async (query: Parameters<Store["list"]>[0]) => {
        const page = await store.list(query);
        isListed ||= query.states?.includes("unknown") ?? false;
        if (at === "list" && isListed) await interrupt();
        return page;
      },
      read: async (tenant: string, id: string) => {
        const found = await store.read(tenant, id);
        if (at === "read" && isListed) await interrupt();
        return found;
      },
    });
  }
  const MOMENTS = ["list", "read"] as const;

  test.each(MOMENTS)(
    "a person said not applied, after the %s: nothing is fired",
    async (moment) => {
      const world = await openWorld();
      const { id } = await lose(world, faults.resetBefore(), {
        keyed: { forMs: 1e9 },
        attempts: 1,
      });
      const as = { as: "not_applied", by: "ana" } as const;
      const hf = world.another({
        store: interrupted(world.store, moment, () => world.hf.operations.resolve(id, as)),
      });
      world.order("readable", { keyed: { forMs: 1e9 } }, hf);
      const report = await world.pass(hf.reconcile({ resend: true }));
      expect(report).toMatchObject({ checked: 0, skipped: { busy: 1 }, resent: 0 });
      expect(world.service.arrivals).toHaveLength(1);
      expect(await hf.operations.get(id)).toMatchObject({ status: "not_applied", by: "ana" });
    },
  );

  test.each(MOMENTS)(
    "it is gone, after the %s: nothing is made and nothing is fired",
    async (moment) => {
      const world = await openWorld();
      const { id } = await lose(world, faults.resetBefore());
      const remove = async () => {
        const { stored } = await world.store.read("default", id);
        const expected = {
          expect: stored?.version ?? 0,
          record: undefined,
          lease: "none",
        } as const;
        await world.store.swap({ tenant: "default", id, ...expected });
      };
      const hf = world.another({ store: interrupted(world.store, moment, remove) });
      world.order("readable", {}, hf);
      expect(await world.pass(hf.reconcile())).toMatchObject({ checked: 0, skipped: { busy: 1 } });
      expect(await hf.operations.get(id)).toBeUndefined();
      expect(world.service.arrivals).toHaveLength(1);
    },
  );

  test("what another has just looked at is not asked again", async () => {
    const world = await openWorld();
    await lose(world, faults.resetBefore());
    const readState = vi.fn(async () => absent());
    const other = heir(world, { readState });
    const hf = world.another({ store: interrupted(world.store, "list", () => other.reconcile()) });
    world.order("readable", { readState }, hf);
    const report = await world.pass(hf.reconcile());
    expect(report.stillUnknown).toMatchObject([{ reason: "absent_unproven" }]);
    expect(readState).toHaveBeenCalledTimes(1);
  });
});

describe("a look without news", () => {
  test("leaves the record as it was: a person's word on what they saw still counts", async () => {
    const world = await openWorld();
    await lose(world, faults.resetBefore());
    const hf = heir(world);
    await world.pass(hf.reconcile());
    const [seen] = (await hf.operations.list()).items;
    await world.clock.advance(60_000);
    await world.pass(hf.reconcile());
    const [now] = (await hf.operations.list()).items;
    expect(now).toEqual(seen);
    const as = { as: "not_applied", by: "ana", asOf: seen?.at } as const;
    expect(await hf.operations.resolve(seen?.id ?? "", as)).toMatchObject({ by: "ana" });
  });
});

describe("resend", () => {
  /** A keyed tool in whose intent all its arguments are. */
  const keyedTool = (world: World, hf: Holdfire, options: OrderOptions = {}) =>
    world.order("keyed", { intent: undefined, ...options }, hf);

  async function loseKeyed(world: World, options: OrderOptions = {}) {
    world.service.plan(faults.commitThenReset());
    const tool = keyedTool(world, world.hf, { attempts: 1, ...options });
    const outcome = await world.pass(tool.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "attempts" });
    return outcome;
  }

  test("is not done unless asked for", async () => {
    const world = await openWorld();
    await loseKeyed(world);
    const hf = world.another();
    keyedTool(world, hf);
    const report = await world.pass(hf.reconcile());
    expect(report).toMatchObject({ resent: 0, stillUnknown: [{ because: "no_reader" }] });
    expect(world.service.arrivals).toHaveLength(1);
  });

  test("sends the same key and the same arguments: one effect", async () => {
    const world = await openWorld();
    const { key } = await loseKeyed(world);
    const hf = world.another();
    keyedTool(world, hf);
    const report = await world.pass(hf.reconcile({ resend: true }));
    expect(report).toMatchObject({ committed: 1, resent: 1, stillUnknown: [] });
    expect(keysOf(world.service)).toEqual([key, key]);
    expect(new Set(world.service.arrivals.map(({ body }) => body)).size).toBe(1);
    expect(world.service.effects).toHaveLength(1);
  });

  test("not where arguments are needed that the ledger does not keep", async () => {
    const world = await openWorld();
    world.service.plan(faults.commitThenReset());
    const once = { attempts: 1 };
    const noted = { ...TEA, note: "quick" };
    await world.pass(world.order("keyed", once).outcome(noted, ONCE));
    const hf = world.another();
    world.order("keyed", {}, hf);
    const report = await world.pass(hf.reconcile({ resend: true }));
    expect(report).toMatchObject({
      resent: 0,
      stillUnknown: [{ reason: "attempts", because: "arguments_not_kept" }],
    });
    expect(world.service.arrivals).toHaveLength(1);
  });

  test("not past the memory of the service", async () => {
    const world = await openWorld();
    await loseKeyed(world);
    await world.clock.advance(86_400_000);
    const hf = world.another();
    keyedTool(world, hf);
    const report = await world.pass(hf.reconcile({ resend: true }));
    expect(report).toMatchObject({ resent: 0, stillUnknown: [{ reason: "key_expired" }] });
    expect(world.service.arrivals).toHaveLength(1);
  });

  test("not after a proven absence: that is for whoever asks again", async () => {
    const world = await openWorld();
    const both = { ...PROVES, intent: undefined, keyed: { forMs: 86_400_000 } };
    await lose(world, faults.resetBefore(), { ...both, attempts: 1 });
    await world.clock.advance(5_000);
    const report = await world.pass(heir(world, both).reconcile({ resend: true }));
    expect(report).toMatchObject({ notApplied: 1, resent: 0 });
    expect(world.service.arrivals).toHaveLength(1);
  });

  test("a tool without a key is only read", async () => {
    const world = await openWorld();
    await lose(world, faults.resetBefore(), { intent: undefined });
    const hf = heir(world, { intent: undefined });
    const report = await world.pass(hf.reconcile({ resend: true }));
    expect(report).toMatchObject({ resent: 0, stillUnknown: [{ reason: "absent_unproven" }] });
    expect(world.service.arrivals).toHaveLength(1);
  });
});

describe("which operations", () => {
  test("those of tools that are here; others are counted by name", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset());
    const hf = world.another();
    expect(await world.pass(hf.reconcile())).toMatchObject({
      checked: 0,
      skipped: { noTool: { order_readable: 1 } },
    });
  });

  test("not by the reader of a single call, which may know only its own arguments", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset());
    const hf = world.another();
    const readState = vi.fn(async () => absent());
    const call = { name: "order_readable", kind: "write", args: {}, scope: "other" } as const;
    await world.pass(hf.run({ ...call, run: async () => 1, readState }));
    readState.mockClear();
    expect(await world.pass(hf.reconcile())).toMatchObject({
      skipped: { noTool: { order_readable: 1 } },
    });
    expect(readState).not.toHaveBeenCalled();
  });

  test("of this tenant, by the tools of this tenant", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset());
    const hf = heir(world);
    const other = hf.forTenant("other");
    world.order("readable", {}, other);
    expect(await world.pass(other.reconcile())).toMatchObject({ checked: 0 });
    expect(await world.pass(hf.forTenant("default").reconcile())).toMatchObject({ committed: 1 });
  });

  test("of this version of the tool", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset(), { version: "1" });
    const report = await world.pass(heir(world, { version: "2" }).reconcile());
    expect(report).toMatchObject({ checked: 0, skipped: { otherVersion: 1 } });
    expect(await world.pass(heir(world, { version: "1" }).reconcile())).toMatchObject({
      committed: 1,
    });
  });

  test("so many, and then from there on", async () => {
    const world = await openWorld();
    for (const item of ["a", "b", "c"]) await lose(world, faults.resetBefore(), {}, item);
    const hf = heir(world);
    const first = await world.pass(hf.reconcile({ limit: 2 }));
    expect(first).toMatchObject({ ended: "limit", checked: 2 });
    const rest = await world.pass(hf.reconcile({ limit: 2, cursor: first.cursor }));
    expect(rest).toMatchObject({ ended: "done", checked: 1 });
    const ids = [...first.stillUnknown, ...rest.stillUnknown].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  test("from a time on, and of chosen tools", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset());
    await world.clock.advance(10_000);
    const since = world.clock.now();
    const hf = heir(world);
    const readable = world.order("readable", {}, hf);
    world.order("keyed", {}, hf);
    expect(await world.pass(hf.reconcile({ since }))).toMatchObject({ checked: 0 });
    expect(await world.pass(hf.reconcile({ tools: ["order_keyed"] }))).toMatchObject({
      checked: 0,
    });
    expect(await world.pass(hf.reconcile({ tools: [readable] }))).toMatchObject({ committed: 1 });
  });

  test("no more once it is told to stop", async () => {
    const world = await openWorld();
    for (let count = 0; count < 20; count += 1) {
      await lose(world, faults.resetBefore(), {}, `item ${count}`);
    }
    const stop = new AbortController();
    const onProgress = () => stop.abort();
    const report = await world.pass(heir(world).reconcile({ signal: stop.signal, onProgress }));
    expect(report.ended).toBe("stopped");
    expect(report.checked).toBeLessThan(20);
    expect((await world.hf.operations.list({ status: ["claimed"] })).items).toEqual([]);
  });
});

describe("progress", () => {
  test("is told for each operation, to the caller and as an event; throwing changes nothing", async () => {
    const world = await openWorld();
    await lose(world, faults.commitThenReset(), {}, "a");
    await lose(world, faults.resetBefore(), {}, "b");
    const hf = heir(world);
    const events = vi.fn();
    hf.on("reconcile", events);
    const onProgress = vi.fn(() => {
      throw new Error("no");
    });
    await world.pass(hf.reconcile({ onProgress }));
    const last = { checked: 2, committed: 1, notApplied: 0, stillUnknown: 1, skipped: 0 };
    expect(onProgress).toHaveBeenCalledTimes(2);
    expect(onProgress).toHaveBeenLastCalledWith(last);
    expect(events).toHaveBeenLastCalledWith({ tenant: "default", ...last });
  });
});

describe("bad input", () => {
  test.each([
    [{ limit: 0 }],
    [{ limit: 1.5 }],
    [{ since: Number.NaN }],
    [{ tools: ["nobody"] }],
    [{ tools: "order_readable" }],
    [{ tools: [undefined] }],
    [{ onProgress: 1 }],
    [{ resent: true }],
  ])("%j is refused", async (options) => {
    const world = await openWorld();
    const hf = heir(world);
    await expect(hf.reconcile(options as never)).rejects.toThrow(InvalidInputError);
  });

  test("a closed holdfire says so", async () => {
    const world = await openWorld();
    const hf = world.another({ store: memoryStore({ now: world.clock.now }) });
    await world.pass(hf.close());
    await expect(hf.reconcile()).rejects.toThrow(ClosedError);
    expect(() => hf.reconcileEvery(1_000)).toThrow(ClosedError);
  });
});
