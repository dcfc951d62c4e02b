/**
 * What changes between the look of the gate and the claim. A yes is read in the one and spent in the other: whatever
 * happens in between, nothing fires without a yes, and no yes counts twice.
 */
import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { Plan } from "../../src/engine/define/definition.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { listen } from "../scenarios/world.ts";
import { type BucketWorld, DAY_MS, LOGS, ONCE, openBucket, waiting } from "./bucket.ts";

const TENANT = "default";

let world: BucketWorld;

beforeEach(() => {
  world = openBucket();
});

/** As pruning does, and a claim that is withdrawn. */
async function forget(id: string): Promise<void> {
  const { stored } = await world.store.read(TENANT, id);
  if (!stored) return;
  const { version } = stored;
  await world.store.swap({ tenant: TENANT, id, expect: version, record: undefined, lease: "none" });
}

/** The plan of the next call is made while `meanwhile` happens: after the look, before the claim. */
function whilePlanning(meanwhile: () => Promise<unknown>): () => Promise<Plan> {
  let isDue = true;
  return async () => {
    if (isDue) {
      isDue = false;
      await meanwhile();
    }
    return world.plan;
  };
}

async function approved(hf: Holdfire): Promise<{ id: string; digest: string }> {
  const { id } = await world.clock.run(world.drop(hf).outcome(LOGS, ONCE));
  const { digest } = await waiting(hf);
  await hf.approvals.approve(id, { digest, by: "ana" });
  return { id, digest };
}

describe("between the look and the claim", () => {
  test("a yes that is gone from the ledger lets nothing pass: the person is asked anew", async () => {
    const { clock, drop, runs } = world;
    const hf = world.holdfire();
    const { id, digest } = await approved(hf);
    const plan = whilePlanning(() => forget(id));
    expect(await clock.run(drop(hf, { plan }).outcome(LOGS, ONCE))).toMatchObject({
      status: "held",
      reason: "approval",
      attempts: 0,
    });
    expect(runs).toEqual([]);
    const question = await waiting(hf);
    expect(question).toMatchObject({ answered: false });
    expect(question.digest).not.toBe(digest);
  });

  test("a yes that is taken back by a no lets nothing pass", async () => {
    const { clock, drop, runs } = world;
    const hf = world.holdfire();
    const { id, digest } = await approved(hf);
    const plan = whilePlanning(() => hf.approvals.deny(id, { digest, by: "bob" }));
    expect(await clock.run(drop(hf, { plan }).outcome(LOGS, ONCE))).toMatchObject({
      status: "denied",
      by: "bob",
    });
    expect(runs).toEqual([]);
  });

  test("a yes that another process has spent is not spent again: its result is told", async () => {
    const { clock, drop, runs } = world;
    const hf = world.holdfire();
    await approved(hf);
    const other = drop(world.holdfire());
    const plan = whilePlanning(() => other.outcome(LOGS, ONCE));
    expect(await clock.run(drop(hf, { plan }).outcome(LOGS, ONCE))).toMatchObject({
      status: "committed",
      replayed: true,
    });
    expect(runs).toHaveLength(1);
  });

  test("one that was done, and is forgotten at once, is not done again without a person", async () => {
    const { clock, drop, store, runs } = world;
    const hf = world.holdfire();
    const { id } = await approved(hf);
    await clock.run(drop(hf).outcome(LOGS, ONCE));
    const { read } = store;
    let isDue = true;
    Object.assign(store, {
      read: async (...given: Parameters<typeof read>) => {
        const found = await read(...given);
        if (isDue) {
          isDue = false;
          await forget(id);
        }
        return found;
      },
    });
    expect(await clock.run(drop(hf).outcome(LOGS, ONCE))).toMatchObject({ status: "held" });
    expect(runs).toHaveLength(1);
    expect(await waiting(hf)).toMatchObject({ answered: false });
  });
});

describe("while the question is written down", () => {
  test("another process has asked, and done it: that is told, and nobody is asked again", async () => {
    const { clock, drop, runs } = world;
    const hf = world.holdfire();
    const heard = listen(hf);
    const quick = drop(world.holdfire({ confirm: () => ({ approve: true, by: "ana" }) }));
    const plan = whilePlanning(() => quick.outcome(LOGS, ONCE));
    expect(await clock.run(drop(hf, { plan }).outcome(LOGS, ONCE))).toMatchObject({
      status: "committed",
      replayed: true,
    });
    expect(heard("approval", "asked")).toEqual([]);
    expect(runs).toHaveLength(1);
  });

  test("another process works on it, and then gives it back unsent: it still needs a yes", async () => {
    const { clock, drop, store, runs } = world;
    const hf = world.holdfire();
    const planned = await clock.run(drop(hf).plan(LOGS, ONCE));
    const id = planned.id ?? expect.fail("It has no id.");
    const { read, swap } = store;
    const state = { tag: "claimed", holder: "another" } as const;
    const plan = whilePlanning(async () => {
      await drop(world.holdfire()).outcome(LOGS, ONCE);
      const { stored } = await read(TENANT, id);
      const { record, version } = stored ?? expect.fail("Nobody was asked.");
      const claimed = recordOf({ ...record, state });
      await swap({ tenant: TENANT, id, expect: version, record: claimed, lease: 5_000 });
      // From here on, whoever looks finds that it was given back.
      const givenBack = async () => {
        Object.assign(store, { read, swap });
        await forget(id);
      };
      Object.assign(store, {
        read: async (...given: Parameters<typeof read>) => {
          await givenBack();
          return read(...given);
        },
        swap: async (change: Parameters<typeof swap>[0]) => {
          if (change.record?.state.tag === "claimed") await givenBack();
          return swap(change);
        },
      });
    });
    expect(await clock.run(drop(hf, { plan }).outcome(LOGS, ONCE))).toMatchObject({
      status: "held",
    });
    expect(runs).toEqual([]);
  });

  test("it is written once", async () => {
    const { clock, drop, store } = world;
    const held: unknown[] = [];
    const { swap } = store;
    Object.assign(store, {
      swap: (change: Parameters<typeof swap>[0]) => {
        if (change.record?.state.tag === "held") held.push(change);
        return swap(change);
      },
    });
    await clock.run(drop(world.holdfire()).outcome(LOGS, ONCE));
    expect(held).toHaveLength(1);
  });
});

describe("a plan", () => {
  test("may take its time, within the deadline", async () => {
    const { clock, drop } = world;
    const hf = world.holdfire();
    const plan = () =>
      new Promise<Plan>((resolve) => {
        clock.after(2_000, () => resolve(world.plan));
      });
    const outcome = await clock.run(drop(hf, { plan }).outcome(LOGS, ONCE));
    expect(outcome).toMatchObject({ status: "held", reason: "approval" });
    expect((await waiting(hf)).shown).toMatchObject({ plan: world.plan });
  });

  test("that fails is told with its own error, and one that is late as late", async () => {
    const { clock, drop } = world;
    const hf = world.holdfire();
    const broken = drop(hf, { plan: () => Promise.reject(new Error("down")) });
    const hung = drop(hf, { plan: () => new Promise(() => {}) });
    expect(await clock.run(broken.outcome(LOGS, ONCE))).toMatchObject({
      error: new Error("down"),
    });
    expect(await clock.run(hung.outcome(LOGS, ONCE))).toMatchObject({
      error: { message: expect.stringContaining(`plan of "drop_bucket": did not answer in time.`) },
    });
  });

  test("during which the caller leaves sends nothing, and nobody is asked", async () => {
    const { clock, drop, runs } = world;
    const hf = world.holdfire();
    const stop = new AbortController();
    const hung = drop(hf, { plan: () => new Promise(() => {}) });
    const call = hung.outcome(LOGS, { ...ONCE, signal: stop.signal });
    await clock.settle();
    stop.abort();
    expect(await call).toMatchObject({ status: "held", reason: "approval", attempts: 0 });
    expect((await hf.approvals.list()).items).toEqual([]);
    expect(runs).toEqual([]);
  });
});

describe("the answer of confirm", () => {
  test.each([["yes"], [undefined], [null], [{ approve: "yes", by: "ana" }], [{ by: "ana" }]])(
    "%j is refused with the words of what it must be",
    async (answer) => {
      const hf = world.holdfire({ confirm: () => answer as never });
      await expect(world.clock.run(world.drop(hf).outcome(LOGS, ONCE))).rejects.toThrow(
        "confirm: must return { approve: true or false, by }.",
      );
    },
  );

  test("is refused with a note that is as long as a book", async () => {
    const note = "x".repeat(2_001);
    const hf = world.holdfire({ confirm: () => ({ approve: true, by: "ana", note }) });
    await expect(world.clock.run(world.drop(hf).outcome(LOGS, ONCE))).rejects.toThrow("note: ");
    expect(await waiting(hf)).toMatchObject({ answered: false });
    expect(world.runs).toEqual([]);
  });

  test("comes too late where the question has expired: nothing fires, and it is asked anew", async () => {
    const { clock, drop, runs } = world;
    const confirm = async () => {
      await new Promise<void>((resolve) => clock.after(DAY_MS, resolve));
      return { approve: true, by: "ana" };
    };
    const hf = world.holdfire({ confirm });
    const heard = listen(hf);
    expect(await clock.run(drop(hf).outcome(LOGS, ONCE))).toMatchObject({ status: "held" });
    expect(runs).toEqual([]);
    expect(heard("approval").map(({ status }) => status)).toEqual(["asked", "expired", "asked"]);
  });
});
