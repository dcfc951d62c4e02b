/**
 * The traps that peers fall into, one test or more for each.
 *
 * @module
 */

import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { keysOf, lookUp, type OrderOptions, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("absent is not proof", () => {
  test("the first request commits after the read, and nothing was sent in between", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.lateCommit());
    const readable = order("readable");
    expect(await pass(readable.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    service.commitLate();
    expect(await pass(readable.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(service.effects).toHaveLength(1);
  });
});

describe('an exception is not "it did not happen"', () => {
  test("three calls of a tool that commits and throws are one effect", async () => {
    const { service, order, pass, client } = await openWorld();
    const mail = order("neither", {
      run: async (args) => {
        await client("neither").create(args);
        throw new Error("boom after the effect");
      },
    });
    for (let call = 0; call < 3; call += 1) {
      await expect(pass(mail(TEA, ONCE))).rejects.toMatchObject({
        code: "ERR_HOLDFIRE_OUTCOME_UNKNOWN",
      });
    }
    expect(service.effects).toHaveLength(1);
  });

  test("not even one that says of itself that nothing was sent", async () => {
    const { service, order, pass, client } = await openWorld();
    const error = Object.assign(new Error("connect ECONNREFUSED"), {
      code: "ECONNREFUSED",
      syscall: "connect",
    });
    const mail = order("neither", {
      run: async (args) => {
        await client("neither").create(args);
        throw error;
      },
    });
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("a lapsed lease is not permission", () => {
  test("who takes over reads before it sends, and finds what the dead owner did", async () => {
    const world = await openWorld();
    const { service, order, pass, clock, hf } = world;
    service.plan(faults.blackHole({ commit: true }));
    const dead = order("readable", { attemptTimeoutMs: 40_000 }).outcome(TEA, ONCE);
    await world.arrived(1);
    // The owner is paused: its clock jumps past the lease without a beat.
    clock.jump(100_000);
    const heir = world.another();
    const second = await pass(order("readable", {}, heir).outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
    expect((await hf.operations.get(second.id))?.status).toBe("committed");
    await clock.advance(60_000);
    expect(await pass(dead)).toMatchObject({ status: "committed", id: second.id });
  });

  test("a tool that is neither is never sent by its heir", async () => {
    const world = await openWorld();
    const { service, order, pass, clock } = world;
    service.plan(faults.blackHole({ commit: true }));
    const dead = order("neither", { attemptTimeoutMs: 40_000 }).outcome(TEA, ONCE);
    await world.arrived(1);
    clock.jump(100_000);
    const second = await pass(order("neither", {}, world.another()).outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "unknown", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
    await clock.advance(60_000);
    expect(await pass(dead)).toMatchObject({ status: "unknown" });
  });

  test("a keyed tool is sent by its heir with the same key", async () => {
    const world = await openWorld();
    const { service, order, pass, clock } = world;
    service.plan(faults.blackHole({ commit: true }));
    const dead = order("keyed", {
      attemptTimeoutMs: 40_000,
      run: (args, { key, signal }) => service.client("keyed").create(args, { key, signal }),
    }).outcome(TEA, ONCE);
    await world.arrived(1);
    clock.jump(100_000);
    const second = await pass(order("keyed", {}, world.another()).outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    expect(keysOf(service)).toEqual([second.key, second.key]);
    expect(service.effects).toHaveLength(1);
    await clock.advance(60_000);
    expect(await pass(dead)).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(2);
  });
});

describe("an abort is not a cancellation", () => {
  test("once it is sent, stop means that it may still land: it is read and filed", async () => {
    const { service, order, arrived, pass, heard, hf } = await openWorld();
    service.plan(faults.blackHole({ commit: true }));
    const stop = new AbortController();
    const call = order("readable").outcome(TEA, { ...ONCE, signal: stop.signal });
    await arrived(1);
    stop.abort();
    const left = await pass(call);
    expect(left).toMatchObject({ status: "in_progress" });
    await until(() => heard("outcome").length > 0);
    expect(await hf.operations.get(left.id)).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("a result that will not serialise was still committed", () => {
  test("it is settled without its payload, and the repeated call sends nothing", async () => {
    const { service, hf, pass, heard, client } = await openWorld();
    const circular = hf.tool({
      name: "circular",
      kind: "write",
      run: async (args: { item: string }) => {
        const made: Record<string, unknown> = { ...(await client("neither").create(args)) };
        return Object.assign(made, { self: made });
      },
    });
    const first = await pass(circular.outcome({ item: "tea" }, ONCE));
    expect(first).toMatchObject({ status: "committed", result: { effect: "created" } });
    expect(heard("warning", "payload_lost")).toHaveLength(1);
    const second = await pass(circular.outcome({ item: "tea" }, ONCE));
    expect(second).toMatchObject({ status: "committed", resultLost: true, replayed: true });
    await expect(pass(circular({ item: "tea" }, ONCE))).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_RESULT_LOST",
    });
    expect(service.arrivals).toHaveLength(1);
  });

  test("with a reader the lost result is read again", async () => {
    const { service, order, pass, client } = await openWorld();
    const readable = order("readable", {
      run: async (args, { key }) => {
        const made = await client("readable").create(args, { key });
        return Object.assign(made, { big: 1n });
      },
    });
    await pass(readable.outcome(TEA, ONCE));
    const again = await pass(readable.outcome(TEA, ONCE));
    expect(again).toMatchObject({
      status: "committed",
      replayed: true,
      result: { id: service.effects[0]?.effectId },
    });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("a late reply is evidence", () => {
  test("it is filed, and turns unknown into committed", async () => {
    const { service, order, arrived, clock, heard, hf } = await openWorld();
    service.plan(faults.slow({ ms: 70_000, commit: "after" }));
    const mail = order("neither", { run: (args) => service.client("neither").create(args) });
    const call = mail.outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(60_000);
    const { id } = await call;
    expect(await hf.operations.get(id)).toMatchObject({ status: "unknown" });
    await clock.advance(10_000);
    await until(() => heard("late").length > 0);
    await clock.settle();
    expect(await hf.operations.get(id)).toMatchObject({ status: "committed" });
  });
});

describe("found is not mine", () => {
  const loose: OrderOptions = { name: "loose", commitsWithinMs: 1_000 };

  test("a reading that names another operation's effect cannot tell", async () => {
    const { service, order, pass, client } = await openWorld();
    // A reader that looks for equal orders, not for its own key.
    const readState: OrderOptions["readState"] = async ({ intent }) => {
      const [found] = await client("readable").find({ item: intent.item });
      return found ? committed(found, { effectId: found.id }) : absent();
    };
    const tool = order("readable", { ...loose, readState, effect: { id: ({ id }) => id } });
    const first = await pass(tool.outcome(TEA, { scope: "monday" }));
    expect(first).toMatchObject({ status: "committed", effectId: service.effects[0]?.effectId });
    service.plan(faults.resetBefore());
    const second = await pass(tool.outcome(TEA, { scope: "tuesday" }));
    expect(second).toMatchObject({ status: "unknown", reason: "cannot_tell", attempts: 1 });
    expect(service.effects).toHaveLength(1);
  });

  test("a reader asks `taken` and finds the one that is nobody's", async () => {
    const { service, order, pass, client } = await openWorld();
    const readState: OrderOptions["readState"] = async ({ intent, taken, firstSentAt }) => {
      expect(firstSentAt).toBeGreaterThan(0);
      for (const found of await client("readable").find({ item: intent.item })) {
        if (!(await taken(found.id))) return committed(found, { effectId: found.id });
      }
      return absent();
    };
    const tool = order("readable", { ...loose, readState, effect: { id: ({ id }) => id } });
    await pass(tool.outcome(TEA, { scope: "monday" }));
    service.plan(faults.commitThenReset());
    const second = await pass(tool.outcome(TEA, { scope: "tuesday" }));
    const [, effect] = service.effects;
    expect(second).toMatchObject({ status: "committed", effectId: effect?.effectId, attempts: 1 });
    expect(service.effects).toHaveLength(2);
  });

  test("an effect found once by reading belongs to its finder", async () => {
    const { service, order, pass, client } = await openWorld();
    const readState: OrderOptions["readState"] = async ({ intent }) => {
      const [found] = await client("readable").find({ item: intent.item });
      return found ? committed(found, { effectId: found.id }) : absent();
    };
    const tool = order("readable", { ...loose, readState });
    service.plan(faults.commitThenReset(), faults.resetBefore());
    expect(await pass(tool.outcome(TEA, { scope: "monday" }))).toMatchObject({
      status: "committed",
    });
    const second = await pass(tool.outcome(TEA, { scope: "tuesday" }));
    expect(second).toMatchObject({ status: "unknown", reason: "cannot_tell" });
  });
});

describe("maxRetries 0 is not one owner", () => {
  test("two requests in one attempt are counted and told, and their no is not believed", async () => {
    const { service, order, pass, heard, client } = await openWorld();
    service.plan(faults.commitThenReset(), faults.status({ status: 404 }));
    const mail = order("neither", {
      run: async (args) => {
        const send = () => client("neither").create(args);
        return send().catch(send);
      },
    });
    const outcome = await pass(mail.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", wireRequests: 2, attempts: 1 });
    expect(heard("warning", "hidden_retry")).toMatchObject([
      { attempt: 1, method: "POST", path: "/neither/effects", count: 2 },
    ]);
    expect(service.arrivals).toHaveLength(2);
  });

  test("only the tool's own `classify` may say more", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.status({ status: 503 }), faults.status({ status: 404 }));
    const mail = order("neither", {
      classify: (error) => ((error as { status?: number }).status === 404 ? "rejected" : undefined),
      run: async (args) => {
        const send = () => client("neither").create(args);
        return send().catch(send);
      },
    });
    const outcome = await pass(mail.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", wireRequests: 2 });
  });

  test("a no over a transport that nobody counts is not believed", async () => {
    const { hf, pass } = await openWorld();
    const socket = hf.tool({
      name: "socket",
      kind: "write",
      run: async (_: { item: string }) => {
        throw Object.assign(new Error("no"), { status: 404 });
      },
    });
    expect(await pass(socket.outcome({ item: "tea" }, ONCE))).toMatchObject({ status: "unknown" });
  });

  test("native fetch itself sends a 421 again, and that is told", async () => {
    const { service, order, pass, heard } = await openWorld();
    service.plan(faults.status({ status: 421 }));
    const outcome = await pass(order("neither").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", wireRequests: 2, attempts: 1 });
    expect(heard("warning", "hidden_retry")).toMatchObject([{ count: 2 }]);
    expect(service.arrivals).toHaveLength(2);
  });

  test("requests of node:http are counted too", async () => {
    const { service, hf, pass, heard, track } = await openWorld();
    const post = (item: string) =>
      track(
        new Promise<number>((resolve, reject) => {
          const sending = request(
            `${service.url}/neither/effects`,
            { method: "POST" },
            (answer) => {
              answer.resume();
              answer.on("end", () => resolve(answer.statusCode ?? 0));
            },
          );
          sending.on("error", reject);
          sending.end(JSON.stringify({ item }));
        }),
      );
    const twice = hf.tool({
      name: "twice",
      kind: "write",
      run: async ({ item }: { item: string }) => [await post(item), await post(item)],
    });
    const outcome = await pass(twice.outcome({ item: "tea" }, ONCE));
    expect(outcome).toMatchObject({ status: "committed", wireRequests: 2 });
    expect(heard("warning", "hidden_retry")).toMatchObject([{ count: 2 }]);
  });
});

describe('5xx is not "no"', () => {
  test("an effect behind a 500 is found, not made again", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 500, commit: true }));
    expect(await pass(order("readable").outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(service.effects).toHaveLength(1);
  });
});

describe('2xx is not "yes"', () => {
  const verify: OrderOptions["verify"] = () => false;

  test("a liar is found out by `verify`: unknown, and the result is kept", async () => {
    const { service, order, pass, store, heard } = await openWorld();
    const liar = order("liar", { verify, commitsWithinMs: 2_000 });
    const outcome = await pass(liar.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "unverified", attempts: 1 });
    const { stored } = await store.read("default", outcome.id);
    const { state } = stored?.record ?? {};
    expect(state).toMatchObject({ tag: "unknown", payload: { form: "json" } });
    expect(heard("read").length).toBeGreaterThan(1);
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(0);
  });

  test("after a 2xx nothing but a person's word fires again, not even a key", async () => {
    const { service, order, pass, hf, client } = await openWorld();
    const keyed = order("keyed_readable", {
      verify: () => service.arrivals.length > 1,
      commitsWithinMs: 1_000,
      readState: async () => absent(),
      run: (args, { key }) => client("keyed_readable").create(args, { key }),
    });
    const first = await pass(keyed.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "unknown", reason: "unverified" });
    expect(await pass(keyed.outcome(TEA, ONCE))).toMatchObject({ reason: "unverified" });
    expect(service.arrivals).toHaveLength(1);
    await hf.operations.resolve(first.id, { as: "not_applied", by: "ana" });
    const last = await pass(keyed.outcome(TEA, ONCE));
    expect(last).toMatchObject({ status: "committed", licence: "person", attempts: 2 });
  });

  test("a reader that finds it settles what `verify` doubted", async () => {
    const { service, order, pass, client } = await openWorld();
    const readable = order("readable", { verify, readState: lookUp(client("readable")) });
    expect(await pass(readable.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(1);
  });

  test.each([
    ["throws", () => Promise.reject(new Error("down")), "failed"],
    ["hangs", () => new Promise<boolean>(() => {}), "late"],
    ["returns nonsense", () => "yes" as never, "nonsense"],
  ])("a `verify` that %s leaves it unverified, with an event", async (_, broken, why) => {
    const { service, order, pass, heard } = await openWorld();
    const outcome = await pass(order("neither", { verify: broken }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "unverified" });
    expect(heard("warning", "reader_failed")).toMatchObject([{ which: "verify", why }]);
    expect(service.arrivals).toHaveLength(1);
  });

  test("`verify` gets the result and the intent, and true is a yes", async () => {
    const { order, pass } = await openWorld();
    const seen: unknown[] = [];
    const tool = order("neither", {
      verify: ({ effect }, { intent }) => {
        seen.push([effect, intent]);
        return true;
      },
    });
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(seen).toEqual([["created", { item: "tea" }]]);
  });
});
