import { AsyncResource } from "node:async_hooks";
import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { StoreUnavailableError } from "../../src/errors.ts";
import { createEvents, type HoldfireEvents } from "../../src/observe/events.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { type OrderTool, openWorld, TEA, type World } from "../scenarios/world.ts";

const SECRET = "canary-4711";
const ONCE = { scope: "s" };
const duplicate: HoldfireEvents["duplicate"] = {
  tool: "t",
  id: "id",
  key: "key",
  tenant: "default",
  scope: "s",
  source: "late",
};

describe("an event is built", () => {
  test("not at all where nobody listens, or nobody any more, or another tenant only", () => {
    const events = createEvents();
    const build = vi.fn(() => duplicate);
    events.emit("duplicate", build);
    events.on("duplicate", () => {})();
    events.on("takeover", () => {});
    events.of("theirs").on("duplicate", () => {});
    events.of("ours").emit("duplicate", build);
    expect(build).not.toHaveBeenCalled();
  });

  test("once for all who listen", () => {
    const events = createEvents();
    const build = vi.fn(() => ({ ...duplicate }));
    const heard: unknown[] = [];
    for (let n = 0; n < 3; n += 1) events.on("duplicate", (event) => heard.push(event));
    events.emit("duplicate", build);
    expect(build).toHaveBeenCalledTimes(1);
    expect(new Set(heard).size).toBe(1);
    expect(heard).toHaveLength(3);
  });
});

describe("what was thrown", () => {
  const secretive = () => Object.assign(new Error(SECRET), { config: { headers: SECRET } });

  /** In no form that a log would take. */
  function expectHidden(event: { readonly error?: unknown }, error: unknown): void {
    expect(event.error).toBe(error);
    for (const text of [JSON.stringify(event), inspect(event), JSON.stringify({ ...event })]) {
      expect(text).not.toContain(SECRET);
    }
  }

  test("by run is on verdict and outcome for those who ask, and not enumerable", async () => {
    const { hf, pass, heard } = await openWorld();
    const error = secretive();
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: async (_: object) => {
        throw error;
      },
    });
    await pass(tool.outcome({}, ONCE));
    expect(heard("verdict")).toHaveLength(1);
    expect(heard("outcome")).toHaveLength(1);
    for (const event of [...heard("verdict"), ...heard("outcome")]) expectHidden(event, error);
  });

  test("by a run whose time was up is on late in the same way", async () => {
    const { hf, pass, heard, clock } = await openWorld();
    const error = secretive();
    let fail = () => {};
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: (_: object) =>
        new Promise<never>((_resolve, reject) => {
          fail = () => reject(error);
        }),
    });
    const call = tool.outcome({}, ONCE);
    await clock.advance(10_000);
    await pass(call);
    fail();
    await clock.settle();
    expect(heard("late")).toHaveLength(1);
    for (const event of heard("late")) expectHidden(event, error);
  });

  test("by the store is on store and outcome in the same way", async () => {
    const error = secretive();
    const { order, pass, heard } = await openWorld({
      store: (now) => ({
        ...memoryStore({ now, forgets: "accepted" }),
        swap: () => Promise.reject(error),
      }),
    });
    await expect(pass(order("neither")(TEA, ONCE))).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_STORE_UNAVAILABLE",
    });
    const [event] = heard("store", "error");
    expect(event).toMatchObject({ status: "error", step: "claim" });
    if (event) expectHidden(event, error);
    const [outcome] = heard("outcome", "failed");
    expect(outcome?.error).toBeInstanceOf(StoreUnavailableError);
    if (outcome) expectHidden(outcome, outcome.error);
  });
});

describe("a listener whose wrap goes back to another async context", () => {
  /** A tracer that runs each attempt of `outer` in the context in which its first request began. */
  async function traced(run: (world: World, mail: OrderTool) => Promise<unknown>) {
    const world = await openWorld();
    const { hf, order } = world;
    const mail = order("neither");
    const outer = hf.tool({
      name: "outer",
      kind: "write",
      run: (_: { n: number }) => run(world, mail),
    });
    const first = hf.scope("request-1", () => new AsyncResource("trace"));
    hf.on("attempt", ({ tool, around }) => {
      if (tool === "outer") around((start) => first.runInAsyncScope(start));
    });
    return { ...world, outer };
  }

  test("does not take the scope from the attempt: two operations have each their inner one", async () => {
    const { service, outer, pass } = await traced((_, mail) => mail(TEA));
    await pass(outer({ n: 1 }, { scope: "request-1" }));
    await pass(outer({ n: 2 }, { scope: "request-2" }));
    expect(service.effects).toHaveLength(2);
  });

  test("does not take the frame: with an inner operation committed the outer one is unknown, partial", async () => {
    const { outer, pass } = await traced(async (_, mail) => {
      await mail(TEA);
      throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    });
    const outcome = await pass(outer.outcome({ n: 1 }, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "partial" });
  });

  test("does not take the token: the requests of the attempt are counted", async () => {
    const { outer, pass, heard } = await traced(({ client }) => client("neither").create(TEA));
    const outcome = await pass(outer.outcome({ n: 1 }, ONCE));
    expect(outcome).toMatchObject({ status: "committed", wireRequests: 1 });
    expect(heard("verdict")).toMatchObject([{ wireRequests: 1 }]);
  });
});

test("each operation has one outcome and each attempt one verdict, also through a lost reply", async () => {
  const { service, order, pass, heard } = await openWorld();
  service.plan(faults.commitThenReset());
  const keyed = order("keyed");
  await pass(keyed.outcome(TEA, ONCE));
  await pass(keyed.outcome(TEA, ONCE));
  expect(heard("operation")).toHaveLength(2);
  expect(heard("outcome")).toMatchObject([
    { status: "committed", via: "reply", attempts: 2, replayed: false, by: "call" },
    { status: "committed", via: undefined, attempts: 2, replayed: true, by: "call" },
  ]);
  expect(heard("attempt").map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(heard("verdict")).toMatchObject([
    { attempt: 1, verdict: "unknown" },
    { attempt: 2, verdict: "committed" },
  ]);
  expect(heard("verdict").some(({ timedOut }) => timedOut)).toBe(false);
});

test("a listener of `operation` that makes the same call joins it, and both are answered", async () => {
  const { service, order, pass, hf, clock } = await openWorld();
  const mail = order("neither");
  // The store is open from here on, so that an operation begins in the turn of its call.
  await pass(mail({ item: "milk" }, ONCE));
  const joined: unknown[] = [];
  let calls = 0;
  hf.on("operation", () => {
    calls += 1;
    if (calls === 1) void mail.outcome(TEA, ONCE).then((outcome) => joined.push(outcome));
  });
  const first = await pass(mail.outcome(TEA, ONCE));
  await clock.settle();
  expect(first).toMatchObject({ status: "committed", replayed: false });
  expect(joined).toMatchObject([{ status: "committed", replayed: true, id: first.id }]);
  expect(service.effects).toHaveLength(2);
  const began = clock.monotonic();
  await pass(hf.close());
  expect(clock.monotonic()).toBe(began);
});
