/** A dead owner is not waited for, and one that was taken over waits for its heir. */
import { describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { absent, committed, inProgress } from "../../src/engine/define/reading.ts";
import type { Store } from "../../src/ledger/store.ts";
import type { EffectBody } from "../../src/testing/faulty-service.ts";
import { type OrderOptions, openWorld, TEA, type World } from "./world.ts";

const ONCE = { scope: "s" };

/** A process that can die: from then on the ledger hears nothing from it. */
function mortal(world: World): { readonly hf: Holdfire; die(): void } {
  let isDead = false;
  const never = new Promise<never>(() => {});
  const swap: Store["swap"] = (change) => (isDead ? never : world.store.swap(change));
  const hf = world.another({ store: { ...world.store, swap } });
  return {
    hf,
    die() {
      isDead = true;
    },
  };
}

/** Fires in a process that dies before it is answered. */
async function fireAndDie(world: World, options: OrderOptions): Promise<void> {
  const { hf, die } = mortal(world);
  const hung = world.order("readable", { ...options, run: () => new Promise(() => {}) }, hf);
  hung.outcome(TEA, ONCE).catch(() => {});
  await world.clock.settle();
  die();
}

describe("after a dead owner", () => {
  test("the next caller says that it waits, and reads after one short lease", async () => {
    const world = await openWorld();
    const { clock, order, pass, another } = world;
    await fireAndDie(world, { attemptTimeoutMs: 30_000 });
    const began = clock.monotonic();
    const heir = another();
    const waited: number[] = [];
    heir.on("waiting", () => waited.push(clock.monotonic() - began));
    const found = { id: "ef_1" } as EffectBody;
    const readable = order("readable", { readState: () => committed(found) }, heir);
    expect(await pass(readable.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(waited).toEqual([0]);
    expect(clock.monotonic() - began).toBeLessThan(7_000);
  });

  test("what goes wrong in the process that took over is no error of a write that was not sent", async () => {
    const world = await openWorld();
    const { clock, order, pass, another } = world;
    await fireAndDie(world, { attemptTimeoutMs: 20_000 });
    let isBroken = false;
    const random = (): number => {
      if (isBroken) throw new Error("no entropy");
      return 0.5;
    };
    const heir = another({ surroundings: { clock, random } });
    heir.on("takeover", () => {
      isBroken = true;
    });
    const readable = order("readable", { readState: () => inProgress() }, heir);
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(isBroken).toBe(true);
    expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  });

  test("a tool made of tools that died between two of them is unknown; settled as not applied, it goes on where it was", async () => {
    const world = await openWorld();
    const { service, pass, another, clock } = world;
    const { hf: mine, die } = mortal(world);
    const toolsOf = (hf: Holdfire, between: () => Promise<void>) => {
      const pay = world.order("keyed", { name: "pay" }, hf);
      const tell = world.order("keyed", { name: "tell" }, hf);
      const run = async (item: { item: string }) => {
        await pay(item);
        await between();
        await tell(item);
        return "both";
      };
      return hf.tool({ name: "both", kind: "write", via: "http", run });
    };
    const dying = toolsOf(mine, () => {
      die();
      return new Promise(() => {});
    });
    dying.outcome({ item: "tea" }, ONCE).catch(() => {});
    await clock.settle();
    await expect.poll(() => service.effects.length).toBe(1);
    await clock.settle();
    const heir = another();
    const both = toolsOf(heir, async () => {});
    const outcome = await pass(both.outcome({ item: "tea" }, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "lost_reply" });
    expect(service.effects).toHaveLength(1);
    await heir.operations.resolve(outcome.id, { as: "not_applied", by: "ana", anyway: true });
    expect(await pass(both({ item: "tea" }, ONCE))).toBe("both");
    // The payout is replayed, and only the notice is sent.
    expect(service.effects).toHaveLength(2);
  });

  test("absent is proof only when its attempt can send no more, not when its lease is over", async () => {
    const world = await openWorld();
    const { clock, order, pass, another, service } = world;
    await fireAndDie(world, { attemptTimeoutMs: 20_000 });
    const began = clock.now();
    const readable = order("readable", { commitsWithinMs: 2_000 }, another());
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", licence: "absent", attempts: 2 });
    expect((service.arrivals[0]?.at ?? 0) - began).toBeGreaterThan(20_000 + 2_000);
  });

  test("a caller whose time is up first is told that it is in progress", async () => {
    const world = await openWorld();
    const { order, pass, another, clock } = world;
    await fireAndDie(world, {});
    const readable = order("readable", { readState: () => absent() }, another());
    const outcome = await pass(readable.outcome(TEA, { ...ONCE, deadlineMs: 2_000 }));
    expect(outcome).toMatchObject({ status: "in_progress" });
    expect(clock.monotonic()).toBe(2_000);
  });
});

describe("an owner that another process has taken over", () => {
  test("waits for the outcome of the other one, within its deadline", async () => {
    const world = await openWorld();
    const { clock, order, another } = world;
    let fail: (error: unknown) => void = () => {};
    const first = order("keyed", {
      run: (_, { key }) =>
        new Promise((_resolve, reject) => {
          expect(key).toBeTypeOf("string");
          fail = reject;
        }),
    }).outcome(TEA, ONCE);
    await clock.settle();
    clock.jump(6_000);
    let land: (made: EffectBody) => void = () => {};
    const heir = order(
      "keyed",
      {
        run: (_, { key }) =>
          new Promise((resolve) => {
            expect(key).toBeTypeOf("string");
            land = resolve;
          }),
      },
      another(),
    ).outcome(TEA, ONCE);
    await clock.advance(200);
    fail(new Error("socket hang up"));
    await clock.advance(3_000);
    land({ id: "ef_1" } as EffectBody);
    await clock.advance(3_000);
    expect(await heir).toMatchObject({ status: "committed" });
    expect(await first).toMatchObject({ status: "committed", replayed: false });
  });

  test.each([
    ["at once, when the lease of the other one has lapsed", 6_000, 0],
    ["after it, when the other one still has its lease", 0, 6_000],
  ])(
    "and is answered after all, and the other one is dead: the ledger says committed %s",
    async (_, before, after) => {
      const world = await openWorld();
      const { clock, order, hf } = world;
      let land: (made: EffectBody) => void = () => {};
      const run: OrderOptions["run"] = () =>
        new Promise((resolve) => {
          land = resolve;
        });
      const first = order("readable", { run }).outcome(TEA, ONCE);
      await clock.settle();
      clock.jump(6_000);
      const { hf: heir, die } = mortal(world);
      const readState = () => new Promise<never>(() => {});
      order("readable", { readState }, heir)
        .outcome(TEA, ONCE)
        .catch(() => {});
      await clock.settle();
      die();
      clock.jump(before);
      land({ id: "ef_1" } as EffectBody);
      const told = await first;
      expect(told).toMatchObject({ status: "committed", recorded: true });
      await clock.advance(after);
      expect(await hf.operations.get(told.id)).toMatchObject({ status: "committed" });
    },
  );
});
