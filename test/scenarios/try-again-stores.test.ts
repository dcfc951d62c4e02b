import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { until } from "../engine/virtual-clock.ts";
import { waiting } from "../gate/bucket.ts";
import { findGround, type Ground } from "../processes/ground.ts";
import { openPlace, type Place, STORES } from "../processes/place.ts";

const AT_ONCE = 8;

interface Payment {
  readonly amount: number;
}

/** A service that loses the replies with these numbers, and holdfires with a store each on one ledger. */
function openStage(place: Place, ...lost: readonly number[]) {
  const keys: string[] = [];
  /** The turns that have joined an operation of another turn. */
  const joined = new Set<string>();
  const stage = { answers: async (): Promise<void> => {} };
  const ends: (() => Promise<unknown>)[] = [];
  async function holdfire() {
    const { store, end } = await openPlace(place);
    const { own } = store;
    const noting: typeof own = async (...asked) => {
      const owner = await own(...asked);
      const [, service, name] = asked;
      if (service.endsWith("joined")) joined.add(name);
      return owner;
    };
    Object.assign(store, { own: noting });
    const hf = createHoldfire({ app: "a", store, witness: memoryWitness() });
    ends.push(() => hf.close(), end);
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      keyed: { forMs: 86_400_000 },
      attempts: 1,
      run: async ({ amount }: Payment, { key }) => {
        keys.push(key);
        if (lost.includes(keys.length)) throw new TypeError("the reply was lost");
        await stage.answers();
        return amount;
      },
    });
    const turn = <T>(name: string, fn: () => Promise<T>): Promise<T> =>
      hf.scope({ thread: "chat-7", turn: name }, fn);
    return { hf, pay, turn };
  }
  const close = async () => {
    for (const end of ends) await end();
  };
  return { keys, joined, stage, holdfire, close };
}

const approve = async (hf: Holdfire) => {
  const { operation, digest } = await waiting(hf);
  await hf.approvals.approve(operation.id, { digest, by: "ana" });
};

describe.each(STORES)("in %s, with processes of their own", (name) => {
  let ground: Ground | undefined;
  beforeAll(async () => {
    ground = await findGround(name);
  });
  afterAll(() => ground?.stop());

  test("of many that try again at once, in turns of their own, none mints another key", async (context) => {
    if (!ground) return context.skip();
    const { holdfire, keys, joined, stage, close } = openStage(await ground.ledger(0), 1);
    const all = await Promise.all([holdfire(), holdfire(), holdfire()]);
    const [one] = all;
    await one?.turn("0", () => one.pay.outcome({ amount: 400 }));
    // Who looks when it is done, and was told, asks once more. So it is done when all have looked.
    const sentAnew = () => new Set(keys).size - 1;
    stage.answers = () => until(() => joined.size + sentAnew() >= AT_ONCE);
    const calls = Array.from({ length: AT_ONCE }, (_, n) => {
      const mine = all[n % all.length] as (typeof all)[number];
      return mine.turn(`t${n}`, () => mine.pay.outcome({ amount: 400 }));
    });
    const told = await Promise.all(calls);
    expect(new Set(told.map(({ status }) => status))).toEqual(new Set(["committed"]));
    expect(new Set(keys).size).toBe(1);
    await close();
  });

  test("of many first calls at once, in turns of their own, all are one", async (context) => {
    if (!ground) return context.skip();
    const { holdfire, keys, close } = openStage(await ground.ledger(1));
    const all = await Promise.all([holdfire(), holdfire()]);
    const calls = Array.from({ length: AT_ONCE }, (_, n) => {
      const mine = all[n % all.length] as (typeof all)[number];
      return mine.turn(`t${n}`, () => mine.pay.outcome({ amount: 400 }));
    });
    const told = await Promise.all(calls);
    // Who comes when the first is done, and was told, is another turn that asks once more.
    const ids = new Set(told.map(({ id }) => id));
    expect(new Set(keys).size).toBe(ids.size);
    expect(keys).toHaveLength(ids.size);
    await close();
  });

  test("a reworded call is held, and with a yes the first is never sent again", async (context) => {
    if (!ground) return context.skip();
    const { holdfire, keys, close } = openStage(await ground.ledger(0), 1);
    const [one, other] = await Promise.all([holdfire(), holdfire()]);
    const first = await one.turn("1", () => one.pay.reply({ amount: 400 }));
    const held = await other.turn("2", () => other.pay.reply({ amount: 401 }));
    expect([first.outcome, held.outcome]).toEqual(["unknown", "held"]);
    await approve(one.hf);
    const done = await other.turn("2", () => other.pay.reply({ amount: 401 }));
    expect(done.outcome).toBe("committed");
    const abandoned = { status: "unknown", reason: "abandoned" };
    expect(await one.turn("3", () => one.pay.outcome({ amount: 400 }))).toMatchObject(abandoned);
    await one.hf.reconcile({ resend: true });
    expect(await one.hf.operations.get(first.operation)).toMatchObject(abandoned);
    expect(keys).toHaveLength(2);
    await close();
  });

  test("places that were pruned hide none that is open", async (context) => {
    if (!ground) return context.skip();
    const { holdfire, keys, close } = openStage(await ground.ledger(1), 3);
    const { hf, pay, turn } = await holdfire();
    for (const name of ["1", "2"]) await turn(name, () => pay({ amount: 400 }));
    await turn("3", () => pay.outcome({ amount: 400 }));
    const open = await hf.operations.list({ status: ["unknown"] });
    expect(open.items).toHaveLength(1);
    for (let left = 2; left > 0; ) {
      left -= (await hf.prune({ tombstonesOlderThanMs: 1 })).tombstones;
    }
    const told = await turn("4", () => pay.outcome({ amount: 400 }));
    expect(told).toMatchObject({ status: "committed", id: open.items[0]?.id });
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(3);
    await close();
  });
});
