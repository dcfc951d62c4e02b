import { describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import { KeyConflictError, NotAppliedError } from "../../src/errors.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { DAY_MS, keysOf, type Order, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };
const copyOf = (args: Order) => ({ ...args });

describe("a repeat in the same scope", () => {
  test("of what is committed is replayed without network", async () => {
    const { service, order, pass, heard } = await openWorld();
    const readable = order("readable", { commitsWithinMs: 60_000 });
    const first = await pass(readable.outcome(TEA, ONCE));
    const again = await pass(readable.outcome(TEA, ONCE));
    expect(again).toMatchObject({
      status: "committed",
      replayed: true,
      effect: "noop",
      attempts: 1,
      key: first.key,
      at: first.at,
    });
    expect(again).toMatchObject({ result: { id: service.effects[0]?.effectId } });
    expect(heard("outcome").filter(({ replayed }) => replayed)).toMatchObject([
      { status: "committed" },
    ]);
    expect(service.arrivals).toHaveLength(1);
    expect(service.reads).toHaveLength(0);
  });

  test("of what was rejected is replayed until a reason for another try is given", async () => {
    const { service, order, pass, clock } = await openWorld();
    const readable = order("readable");
    service.plan(faults.status({ status: 404 }));
    await pass(readable.outcome(TEA, ONCE));
    await clock.advance(24 * 3_600_000);
    const again = await pass(readable.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "not_applied", replayed: true, reason: "rejected" });
    await expect(pass(readable(TEA, ONCE))).rejects.toBeInstanceOf(NotAppliedError);
    expect(service.arrivals).toHaveLength(1);
    const retried = await pass(readable.outcome(TEA, { ...ONCE, retry: "stock came in" }));
    expect(retried).toMatchObject({ status: "committed", attempts: 2 });
  });

  test("a reason for another try counts also beside a call that is only told the rejection again", async () => {
    const { service, order, pass } = await openWorld();
    const readable = order("readable");
    service.plan(faults.status({ status: 404 }));
    await pass(readable.outcome(TEA, ONCE));
    const again = readable.outcome(TEA, ONCE);
    const retried = [1, 2].map(() => readable.outcome(TEA, { ...ONCE, retry: "stock came in" }));
    expect(await pass(again)).toMatchObject({ status: "not_applied", replayed: true });
    const committed = { status: "committed", attempts: 2 };
    expect(await pass(Promise.all(retried))).toMatchObject([committed, committed]);
    expect(service.arrivals).toHaveLength(2);
  });

  test("a rejected one fires in a new scope", async () => {
    const { service, order, pass } = await openWorld();
    const readable = order("readable");
    service.plan(faults.status({ status: 404 }));
    await pass(readable.outcome(TEA, ONCE));
    const other = await pass(readable.outcome(TEA, { scope: "s2" }));
    expect(other).toMatchObject({ status: "committed", attempts: 1 });
  });

  test("of what was refused is replayed for a while, then fires with the same key", async () => {
    const { service, order, pass, clock } = await openWorld();
    const mail = order("neither", { refuses: [429], attempts: 1 });
    service.plan(faults.status({ status: 429 }));
    const first = await pass(mail.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "not_applied", reason: "refused" });
    await clock.advance(29_000);
    const again = await pass(mail.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "not_applied", replayed: true });
    expect(service.arrivals).toHaveLength(1);
    await clock.advance(1_000);
    const fired = await pass(mail.outcome(TEA, ONCE));
    expect(fired).toMatchObject({ status: "committed", licence: "refused", attempts: 2 });
    expect(keysOf(service)).toEqual([first.key, first.key]);
  });

  test("of what was proven absent fires after the cooldown, and under the absent licence", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.plan(faults.resetBefore());
    const readable = order("readable", { commitsWithinMs: 1_000, attempts: 1 });
    const first = await pass(readable.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "not_applied", reason: "absent" });
    await clock.advance(30_000);
    const second = await pass(readable.outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "committed", licence: "absent", attempts: 2 });
    expect(keysOf(service)).toEqual([first.key, first.key]);
  });

  test("`cooldownMs` can be set", async () => {
    const { service, order, pass, clock } = await openWorld({ hf: { retry: { cooldownMs: 500 } } });
    const mail = order("neither", { refuses: [429], attempts: 1 });
    service.plan(faults.status({ status: 429 }));
    await pass(mail.outcome(TEA, ONCE));
    await clock.advance(500);
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
  });

  test("wanted twice is two operations: `again`", async () => {
    const { service, order, pass } = await openWorld();
    const mail = order("neither");
    await pass(mail.outcome(TEA, ONCE));
    const second = await pass(mail.outcome(TEA, { ...ONCE, again: "second reminder" }));
    expect(second).toMatchObject({ status: "committed", replayed: false });
    const third = await pass(mail.outcome(TEA, { ...ONCE, again: "second reminder" }));
    expect(third).toMatchObject({ replayed: true, id: second.id });
    expect(service.effects).toHaveLength(2);
  });
});

describe("other words for the same intent", () => {
  test("settled: replayed, and the reworded arguments are named", async () => {
    const { service, order, pass } = await openWorld();
    const mail = order("neither");
    await pass(mail.outcome({ item: "tea", note: "please" }, ONCE));
    const again = await pass(mail.outcome({ item: "tea", note: "at once" }, ONCE));
    expect(again).toMatchObject({ status: "committed", replayed: true, reworded: ["note"] });
    expect(service.arrivals).toHaveLength(1);
  });

  test("the same words are not reworded, in whatever order", async () => {
    const { order, pass } = await openWorld();
    const mail = order("neither");
    await pass(mail.outcome({ item: "tea", note: "please" }, ONCE));
    const again = await pass(mail.outcome({ note: "please", item: "tea" }, ONCE));
    expect(again.reworded).toBeUndefined();
  });

  test("open: it is read, not sent again with other arguments", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore());
    const keyed = order("keyed", { attempts: 1 });
    await pass(keyed.outcome({ item: "tea", note: "please" }, ONCE));
    const other = await pass(keyed.outcome({ item: "tea", note: "at once" }, ONCE));
    expect(other).toMatchObject({ status: "unknown", reason: "reworded", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
    const same = await pass(keyed.outcome({ item: "tea", note: "please" }, ONCE));
    expect(same).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
  });

  test("open and readable: a reader may still find it", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.lateCommit());
    const readable = order("readable");
    await pass(readable.outcome({ item: "tea", note: "please" }, ONCE));
    service.commitLate();
    const other = await pass(readable.outcome({ item: "tea", note: "at once" }, ONCE));
    expect(other).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test.each([
    ["becomes a copy of the arguments", undefined, copyOf],
    ["was a copy of the arguments and is left out", copyOf, undefined],
  ])("none are said where `intent` %s in a later deploy", async (_, before, after) => {
    const { service, hf, another, client, pass } = await openWorld();
    const deploy = (by: Holdfire, intent: typeof before) =>
      by.tool({
        name: "order",
        kind: "write",
        keyed: { forMs: DAY_MS },
        attempts: 1,
        ...(intent && { intent }),
        run: (args: Order, { key, signal }) => client("keyed").create(args, { key, signal }),
      });
    const older = deploy(hf, before);
    const later = deploy(another(), after);
    const tea = { item: "tea", note: "please" };
    const milk = { item: "milk", note: "please" };

    const settled = await pass(older.outcome(tea, ONCE));
    const replayed = await pass(later.outcome(tea, ONCE));
    expect(replayed).toMatchObject({ status: "committed", replayed: true, id: settled.id });
    expect(replayed.reworded).toBeUndefined();

    service.plan(faults.resetBefore());
    const open = await pass(older.outcome(milk, ONCE));
    expect(open).toMatchObject({ status: "unknown", reason: "attempts" });
    const resent = await pass(later.outcome(milk, ONCE));
    expect(resent).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    expect(keysOf(service)).toEqual([settled.key, open.key, open.key]);
  });

  test("white space in named fields does not matter where `normalize` says so", async () => {
    const { service, order, pass } = await openWorld();
    const mail = order("neither", { normalize: ["item"] });
    await pass(mail.outcome({ item: "green tea" }, ONCE));
    const again = await pass(mail.outcome({ item: " green  tea\n" }, ONCE));
    expect(again).toMatchObject({ replayed: true });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("a key of the caller's own, by hf.run", () => {
  test("names the operation in place of scope and intent", async () => {
    const { service, hf, pass, client } = await openWorld();
    const call = (item: string) =>
      hf.run({
        name: "order",
        kind: "write",
        key: "invoice-42",
        args: { item },
        run: (args: { item: string }, { key }) => client("neither").create(args, { key }),
      });
    const first = await pass(call("tea"));
    expect(await pass(call("tea"))).toEqual(first);
    expect(service.arrivals).toHaveLength(1);
  });

  test("with another intent is a conflict: nothing is sent", async () => {
    const { service, hf, pass, client } = await openWorld();
    const call = (item: string) =>
      hf.run({
        name: "order",
        kind: "write",
        key: "invoice-42",
        args: { item },
        run: (args: { item: string }) => client("neither").create(args),
      });
    await pass(call("tea"));
    await expect(pass(call("milk"))).rejects.toBeInstanceOf(KeyConflictError);
    expect(service.arrivals).toHaveLength(1);
  });

  test("with another intent while the first is under way is a conflict too", async () => {
    const { service, hf, pass, client } = await openWorld();
    const call = (item: string) =>
      hf.run({
        name: "order",
        kind: "write",
        key: "invoice-42",
        args: { item },
        run: (args: { item: string }) => client("neither").create(args),
      });
    const both = Promise.allSettled([call("tea"), call("milk")]);
    const [, second] = await pass(both);
    expect(second).toMatchObject({
      status: "rejected",
      reason: { code: "ERR_HOLDFIRE_KEY_CONFLICT" },
    });
    expect(service.arrivals).toHaveLength(1);
  });

  test("hf.run with a scope is the same as a tool", async () => {
    const { service, hf, pass, client, order } = await openWorld();
    const run = (args: { item: string }) => client("neither").create(args);
    await pass(order("neither", { name: "order", run }).outcome(TEA, ONCE));
    const again = hf.run({
      name: "order",
      kind: "write",
      scope: "s",
      args: TEA,
      intent: ({ item }: { item: string }) => ({ item }),
      run,
    });
    expect(await pass(again)).toMatchObject({ id: service.effects[0]?.effectId });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("arguments", () => {
  test("are frozen when the call is made: changing them later changes nothing", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.plan(faults.resetBefore());
    const args = { item: "tea", note: "first" };
    const call = order("keyed").outcome(args, ONCE);
    args.note = "second";
    await clock.settle();
    args.item = "milk";
    await pass(call);
    expect(service.arrivals.map(({ intent }) => intent)).toEqual([
      { item: "tea", note: "first" },
      { item: "tea", note: "first" },
    ]);
  });

  test("cannot be changed by the run itself", async () => {
    const { hf, pass } = await openWorld();
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: async (args: { deep: { item: string } }) => {
        expect(Object.isFrozen(args)).toBe(true);
        expect(Object.isFrozen(args.deep)).toBe(true);
        return args.deep.item;
      },
    });
    expect(await pass(tool({ deep: { item: "tea" } }, ONCE))).toBe("tea");
  });

  test("aliases are kept for tracing and are no part of the key", async () => {
    const { order, pass, hf } = await openWorld();
    const mail = order("neither");
    const first = await pass(mail.outcome(TEA, { ...ONCE, aliases: ["call_abc123"] }));
    const again = await pass(mail.outcome(TEA, { ...ONCE, aliases: ["call_def456"] }));
    expect(again).toMatchObject({ replayed: true, id: first.id });
    const view = await hf.operations.get(first.id);
    expect(view?.aliases).toContain("call_abc123");
  });

  test("two operations that differ in a uuid or a timestamp alone are noticed", async () => {
    const { hf, pass, heard } = await openWorld();
    const tool = hf.tool({ name: "t", kind: "write", run: async (_: { at: string }) => 1 });
    const first = await pass(tool.outcome({ at: "2026-11-16T04:00:00Z" }, ONCE));
    await pass(tool.outcome({ at: "2026-11-16T04:00:01Z" }, ONCE));
    expect(heard("warning", "volatile_intent")).toMatchObject([{ other: first.id }]);
  });
});
