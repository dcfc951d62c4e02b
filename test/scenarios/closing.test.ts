import { describe, expect, test } from "vitest";
import { type EffectBody, faults } from "../../src/testing/faulty-service.ts";
import { failingStore } from "../engine/failing-store.ts";
import { openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("hf.close", () => {
  test("waits for calls under way, and they end as they would have", async () => {
    const { service, order, pass, hf } = await openWorld();
    service.plan(faults.resetBefore());
    const call = order("keyed").outcome(TEA, ONCE);
    const closing = hf.close();
    expect(await pass(call)).toMatchObject({ status: "committed", attempts: 2, recorded: true });
    await pass(closing);
    expect(service.effects).toHaveLength(1);
  });

  test("leaves the rest open after its time, and closes the store", async () => {
    const { order, pass, hf, clock, store } = await openWorld();
    const call = order("neither", {
      attemptTimeoutMs: 50_000,
      run: () => new Promise<EffectBody>(() => {}),
    }).outcome(TEA, ONCE);
    await clock.settle();
    const began = clock.monotonic();
    await pass(hf.close());
    expect(clock.monotonic() - began).toBe(10_000);
    await expect(store.read("default", "x")).rejects.toMatchObject({ code: "ERR_HOLDFIRE_CLOSED" });
    const outcome = await pass(call);
    expect(outcome).toMatchObject({ status: "in_progress", recorded: false });
  });

  test("does not leave a call that waits for a person without an answer", async () => {
    let answer = (_: { approve: boolean; by: string }) => {};
    const confirm = () => new Promise<{ approve: boolean; by: string }>((give) => (answer = give));
    const { order, pass, hf, service, clock } = await openWorld({ hf: { confirm } });
    const call = order("neither", { kind: "destructive" }).outcome(TEA, ONCE);
    await clock.settle();
    await pass(hf.close());
    expect(await pass(call)).toMatchObject({ status: "held", reason: "approval" });
    answer({ approve: true, by: "ana" });
    await clock.settle();
    expect(service.arrivals).toHaveLength(0);
  });

  test("`drainMs` can be set", async () => {
    const { order, pass, hf, clock } = await openWorld({ hf: { retry: { drainMs: 50 } } });
    const hung = order("neither", { run: () => new Promise<EffectBody>(() => {}) });
    void hung.outcome(TEA, ONCE);
    await clock.settle();
    await pass(hf.close());
    expect(clock.monotonic()).toBe(50);
  });

  test("is safe to call twice, and from every tenant's view", async () => {
    const { hf, pass } = await openWorld();
    const other = hf.forTenant("other");
    await pass(Promise.all([hf.close(), hf.close(), other.close()]));
    expect(() => other.tool({ name: "t", kind: "read", run: async (_: object) => 1 })).toThrow(
      "closed",
    );
  });

  test("waits for a settle that is being retried", async () => {
    const { order, pass, hf, clock, store, heard } = await openWorld({
      store: (now) => failingStore({ now, forgets: "accepted" }),
    });
    const failing = store as ReturnType<typeof failingStore>;
    failing.fail("rejects", (step) => step === "swap:committed");
    expect(await pass(order("neither").outcome(TEA, ONCE))).toMatchObject({ recorded: false });
    const closing = hf.close();
    await clock.advance(1_000);
    failing.recover();
    await pass(closing);
    expect(heard("store", "recorded")).toHaveLength(1);
  });

  test("gives up on a store that stays down", async () => {
    const { order, pass, hf, clock, store, heard } = await openWorld({
      store: (now) => failingStore({ now, forgets: "accepted" }),
    });
    const failing = store as ReturnType<typeof failingStore>;
    failing.fail("rejects", (step) => step === "swap:committed");
    await pass(order("neither").outcome(TEA, ONCE));
    const began = clock.monotonic();
    await pass(hf.close());
    expect(clock.monotonic() - began).toBe(10_000);
    expect(heard("store", "recorded")).toEqual([]);
  });

  test("leaves no timer behind after a call that went well", async () => {
    const { order, pass, clock, hf } = await openWorld();
    await pass(order("neither").outcome(TEA, ONCE));
    await clock.settle();
    expect(clock.pending()).toBe(0);
    await pass(hf.close());
  });
});

describe("tenants", () => {
  test("never meet: the same call of two tenants is two operations", async () => {
    const { service, order, pass, hf } = await openWorld();
    const acme = hf.forTenant("acme");
    const other = hf.forTenant("other");
    const first = await pass(order("keyed", {}, acme).outcome(TEA, ONCE));
    const second = await pass(order("keyed", {}, other).outcome(TEA, ONCE));
    expect(second).toMatchObject({ replayed: false });
    expect(second.key).not.toBe(first.key);
    expect(service.effects).toHaveLength(2);
  });

  test("see only their own operations", async () => {
    const { order, pass, hf } = await openWorld();
    const acme = hf.forTenant("acme");
    const other = hf.forTenant("other");
    const { id } = await pass(order("neither", {}, acme).outcome(TEA, ONCE));
    expect(await other.operations.get(id)).toBeUndefined();
    expect((await other.operations.list()).items).toEqual([]);
    expect((await acme.operations.list()).items).toHaveLength(1);
    await expect(other.operations.resolve(id, { as: "committed", by: "eve" })).rejects.toThrow(
      "no such operation",
    );
  });

  test("a caller's key of one tenant is unknown to the other", async () => {
    const { service, pass, hf, client } = await openWorld();
    const call = (tenant: string) =>
      hf.forTenant(tenant).run({
        name: "order",
        kind: "write",
        key: "invoice-42",
        args: TEA,
        run: (args: typeof TEA, { key }) => client("keyed").create(args, { key }),
      });
    await pass(call("acme"));
    await pass(call("other"));
    expect(new Set(service.arrivals.map(({ key }) => key)).size).toBe(2);
    expect(service.effects).toHaveLength(2);
  });

  test("an effect id of one tenant says nothing to the other", async () => {
    const { service, order, pass, hf } = await openWorld();
    const name = { effect: { id: () => "the same id" } };
    await pass(order("readable", name, hf.forTenant("acme")).outcome(TEA, ONCE));
    service.plan(faults.commitThenReset());
    const second = await pass(order("readable", name, hf.forTenant("other")).outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "committed" });
  });

  test("a tenant's name is checked", async () => {
    const { hf } = await openWorld();
    expect(() => hf.forTenant("")).toThrow("tenant");
    expect(() => hf.forTenant(" a")).toThrow("tenant");
  });
});

describe("what a model is told", () => {
  test("committed, and when it is replayed", async () => {
    const { order, pass } = await openWorld();
    const mail = order("neither", { effect: { type: () => "created" } });
    const first = await pass(mail.reply(TEA, ONCE));
    expect(first).toMatchObject({
      ok: true,
      outcome: "committed",
      effect: "created",
      replayed: false,
      data: { effect: "created" },
      message: "Done. Do not call again for the same request.",
    });
    const again = await pass(mail.reply(TEA, ONCE));
    expect(again).toMatchObject({ ok: true, effect: "noop", replayed: true, data: first.data });
    expect(again.message).toBe(
      "Already done at 2023-11-14T22:13:20.000Z; nothing was sent this time. Do not call again. If it is wanted once more, a person must ask for it in a new message.",
    );
    expect(again.operation).toBe(first.operation);
  });

  test("unknown: being checked where something can read it, a person's task where nothing can", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset(), faults.resetBefore());
    const mail = await pass(order("neither").reply(TEA, ONCE));
    expect(mail).toMatchObject({ ok: false, outcome: "unknown" });
    expect(mail.message).toBe(
      "The reply was lost. It may have happened. Do not call again; a person must check.",
    );
    const readable = await pass(order("readable").reply(TEA, ONCE));
    expect(readable.message).toBe(
      "The reply was lost. It may have happened. Do not call again; it stays open until it is checked.",
    );
  });

  test("rejected, and refused", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 404 }));
    const no = await pass(order("neither").reply(TEA, ONCE));
    expect(no).toMatchObject({ ok: false, outcome: "not_applied", effect: "noop" });
    expect(no.message).toContain("The service said no (404");
    service.always(faults.status({ status: 429 }));
    const busy = await pass(order("keyed", { refuses: [429] }).reply(TEA, ONCE));
    expect(busy.message).toBe("The service answered 429: not now. Nothing happened.");
  });

  test("in progress", async () => {
    const { order, pass, clock } = await openWorld();
    const hung = order("neither", { run: () => new Promise<EffectBody>(() => {}) });
    const stop = new AbortController();
    void hung.outcome(TEA, ONCE);
    const left = hung.reply(TEA, { ...ONCE, signal: stop.signal });
    await clock.settle();
    stop.abort();
    expect(await pass(left)).toMatchObject({
      ok: false,
      outcome: "in_progress",
      message:
        "It is still in progress and may still land. Do not call again; ask for its status later.",
    });
  });
});
