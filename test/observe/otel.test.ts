import * as api from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { createHoldfire, type Holdfire } from "../../src/index.ts";
import { instrument, keyHash, type TracerLike } from "../../src/observe/otel.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { until } from "../engine/virtual-clock.ts";
import { openWorld, TEA } from "../scenarios/world.ts";
import { idOf, parentOf, registerContexts, telemetry } from "./telemetry.ts";

const ONCE = { scope: "s" };

const named = (spans: readonly ReadableSpan[], name: string) =>
  spans.filter((span) => span.name === name);

const isNo = (error: unknown): boolean => (error as { status?: number }).status === 402;

const open = (): Holdfire => createHoldfire({ store: memoryStore({ forgets: "accepted" }) });

async function watched() {
  const world = await openWorld();
  const seen = telemetry();
  const stop = instrument(world.hf, seen.where);
  return { ...world, ...seen, stop };
}

describe("spans", () => {
  test("one for the operation, one for each attempt below it, with number, licence and key hash", async () => {
    const { service, order, pass, spans } = await watched();
    service.plan(faults.commitThenReset());
    const options = { ...ONCE, aliases: ["call_1"] };
    const outcome = await pass(order("keyed").outcome(TEA, options));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2 });

    const [operation, ...others] = named(spans(), "execute_tool order_keyed");
    const attempts = named(spans(), "holdfire order_keyed attempt");
    expect(others).toEqual([]);
    expect(operation).toMatchObject({
      kind: api.SpanKind.INTERNAL,
      status: { code: api.SpanStatusCode.UNSET },
      instrumentationScope: { name: "holdfire", version: manifest.version },
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "order_keyed",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_1",
        "holdfire.key.hash": keyHash(outcome.key),
        "holdfire.tool.kind": "write",
        "holdfire.by": "call",
        "holdfire.outcome": "committed",
        "holdfire.licence": "keyed",
        "holdfire.attempts": 2,
        "holdfire.replayed": false,
        "holdfire.recorded": true,
      },
    });
    expect(attempts.map(parentOf)).toEqual([idOf(operation), idOf(operation)]);
    expect(attempts).toMatchObject([
      {
        status: { code: api.SpanStatusCode.ERROR },
        attributes: {
          "holdfire.attempt.number": 1,
          "holdfire.licence": "first",
          "holdfire.verdict": "unknown",
          "error.type": expect.stringMatching(/^(?:ECONNRESET|UND_ERR_SOCKET)$/),
        },
      },
      {
        status: { code: api.SpanStatusCode.UNSET },
        attributes: {
          "holdfire.attempt.number": 2,
          "holdfire.licence": "keyed",
          "holdfire.verdict": "committed",
          "holdfire.wire_requests": 1,
          "holdfire.key.hash": keyHash(outcome.key),
        },
      },
    ]);
    expect(attempts[1]?.attributes).not.toHaveProperty("error.type");
  });

  test("an answer that says no names its status, on the attempt, and the reason, on the operation", async () => {
    const { service, order, pass, spans } = await watched();
    service.plan(faults.status({ status: 422 }));
    await pass(order("neither").outcome(TEA, ONCE));
    const [attempt, operation] = spans();
    expect(attempt?.attributes).toMatchObject({
      "http.response.status_code": 422,
      "error.type": "422",
    });
    expect(operation).toMatchObject({
      status: { code: api.SpanStatusCode.ERROR },
      attributes: { "holdfire.outcome": "not_applied", "error.type": "rejected" },
    });
    expect(operation?.status.message).toBeUndefined();
  });

  test("an attempt whose time is up ends then, and a late reply does not end it again", async () => {
    const { service, order, hf, arrived, clock, heard, spans, points } = await watched();
    service.plan(faults.slow({ ms: 15_000, commit: "before" }));
    const run = (args: object, { key }: { key: string }) =>
      service.client("neither").create(args, { key });
    const call = order("neither", { run, deadlineMs: 12_000 }, hf).outcome(TEA, ONCE);
    await arrived(1);
    await clock.advance(12_000);
    expect(await call).toMatchObject({ status: "in_progress" });
    await clock.advance(3_000);
    await until(() => heard("late").length === 1);
    const attempts = named(spans(), "holdfire order_neither attempt");
    expect(attempts.map(({ attributes }) => attributes["error.type"])).toEqual(["timeout"]);
    const [operation] = named(spans(), "execute_tool order_neither");
    expect(operation?.attributes).toMatchObject({
      "holdfire.outcome": "in_progress",
      "holdfire.outcome.reason": "still_running",
    });
    expect(await points("holdfire.attempt.duration")).toMatchObject([{ value: 1, sum: 10 }]);
    expect(await points("holdfire.late_replies")).toMatchObject([{ value: 1 }]);
  });

  test("a key that the service has rejected has another hash than the next one", async () => {
    const { service, order, pass, spans } = await watched();
    service.plan(faults.status({ status: 402 }));
    const buy = order("keyed", { classify: (error) => (isNo(error) ? "rejected" : undefined) });
    const first = await pass(buy.outcome(TEA, ONCE));
    const second = await pass(buy.outcome(TEA, { ...ONCE, retry: "the card was renewed" }));
    expect(second.key).not.toBe(first.key);
    const hashes = spans().map(({ attributes }) => attributes["holdfire.key.hash"]);
    const [before, after] = [keyHash(first.key), keyHash(second.key)];
    expect(hashes).toEqual([before, before, after, after]);
  });

  test("a replay has a span and no attempt", async () => {
    const { order, pass, spans } = await watched();
    const buy = order("keyed");
    await pass(buy(TEA, ONCE));
    await pass(buy(TEA, ONCE));
    const operations = named(spans(), "execute_tool order_keyed");
    expect(operations.map(({ attributes }) => attributes["holdfire.replayed"])).toEqual([
      false,
      true,
    ]);
    expect(named(spans(), "holdfire order_keyed attempt")).toHaveLength(1);
  });

  test("a read, a wait for a person and an error of the ledger have one, too", async () => {
    const seen = telemetry();
    const store = memoryStore({ forgets: "accepted" });
    const hf = createHoldfire({ store });
    instrument(hf, seen.where);
    await hf.tool({ name: "look", kind: "read", run: async (_: object) => 1 })({});
    const wipe = hf.tool({ name: "wipe", kind: "destructive", run: async (_: object) => 1 });
    expect(await wipe.outcome({}, ONCE)).toMatchObject({ status: "held" });
    const broken = createHoldfire({
      store: { ...store, swap: () => Promise.reject(new TypeError("disk")) },
    });
    instrument(broken, seen.where);
    const write = broken.tool({ name: "write", kind: "write", run: async (_: object) => 1 });
    await expect(write({}, ONCE)).rejects.toMatchObject({ code: "ERR_HOLDFIRE_STORE_UNAVAILABLE" });
    expect(
      seen
        .spans()
        .map(({ attributes, status }) => [
          attributes["gen_ai.tool.name"],
          attributes["holdfire.outcome"],
          status.code,
          attributes["error.type"],
        ]),
    ).toEqual([
      ["look", "committed", api.SpanStatusCode.UNSET, undefined],
      ["wipe", "held", api.SpanStatusCode.UNSET, undefined],
      ["write", "failed", api.SpanStatusCode.ERROR, "ERR_HOLDFIRE_STORE_UNAVAILABLE"],
    ]);
    expect(await seen.points("holdfire.store.errors")).toMatchObject([
      { value: 1, attributes: { "holdfire.step": "claim", "error.type": "TypeError" } },
    ]);
  });

  test("two operations at once keep their attempts apart", async () => {
    const seen = telemetry();
    const hf = open();
    instrument(hf, seen.where);
    const tool = hf.tool({
      name: "t",
      kind: "write",
      keyed: { forMs: 60_000 },
      run: async ({ n }: { n: number }, { key }) => `${n} ${key}`,
    });
    await Promise.all([1, 2, 3].map((n) => tool({ n }, ONCE)));
    const hashOf = new Map(
      named(seen.spans(), "execute_tool t").map((span) => [
        idOf(span),
        span.attributes["holdfire.key.hash"],
      ]),
    );
    const attempts = named(seen.spans(), "holdfire t attempt");
    expect(hashOf.size).toBe(3);
    expect(new Set(attempts.map(parentOf)).size).toBe(3);
    for (const span of attempts) {
      expect(span.attributes["holdfire.key.hash"]).toBe(hashOf.get(parentOf(span)));
    }
  });

  test("an operation inside an attempt is a child of that attempt, without any context manager", async () => {
    const seen = telemetry();
    const hf = open();
    instrument(hf, seen.where);
    const inner = hf.tool({ name: "inner", kind: "write", run: async (_: object) => 1 });
    const outer = hf.tool({ name: "outer", kind: "write", run: (_: object) => inner({}) });
    await outer({}, ONCE);
    const [attempt] = named(seen.spans(), "holdfire outer attempt");
    expect(named(seen.spans(), "execute_tool inner").map(parentOf)).toEqual([idOf(attempt)]);
  });

  test("an inner operation without a span is not taken for the outer one", async () => {
    const seen = telemetry();
    const hf = open();
    const real = seen.where.tracerProvider.getTracer("app");
    const tracer: TracerLike = {
      startSpan(name, options) {
        if (name === "execute_tool inner") throw new Error("no");
        return real.startSpan(name, options);
      },
    };
    instrument(hf, { tracer });
    const inner = hf.tool({ name: "inner", kind: "write", run: async (_: object) => 1 });
    const outer = hf.tool({ name: "outer", kind: "write", run: (_: object) => inner({}) });
    await outer({}, ONCE);
    expect(seen.spans().map(({ name }) => name)).toEqual([
      "holdfire outer attempt",
      "execute_tool outer",
    ]);
  });

  test("a reconciler's work has a span of its own", async () => {
    const { service, order, pass, hf, spans } = await watched();
    service.plan(faults.commitThenReset());
    let blind = true;
    const client = service.client("readable");
    const tool = order("readable", {
      readState: async ({ key }) => {
        if (blind) throw new Error("down");
        const [found] = await client.find({ key });
        return found
          ? { reading: "committed", result: found, effectId: found.id }
          : { reading: "absent" };
      },
    });
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "unknown" });
    blind = false;
    expect(await pass(hf.reconcile())).toMatchObject({ committed: 1 });
    const [settled] = named(spans(), "holdfire reconcile order_readable");
    expect(settled?.attributes).not.toHaveProperty("gen_ai.operation.name");
    expect(settled?.attributes).toMatchObject({
      "holdfire.by": "reconcile",
      "holdfire.outcome": "committed",
    });
  });
});

describe("contexts", () => {
  test("with the api: below the caller's span, and what `run` traces is below the attempt's", async () => {
    registerContexts();
    const seen = telemetry();
    const hf = open();
    instrument(hf, { api, tracerProvider: seen.where.tracerProvider });
    const tracer = seen.where.tracerProvider.getTracer("app");
    const read = async () => {
      tracer.startSpan("look").end();
      return { reading: "absent" } as const;
    };
    const tool = hf.tool({
      name: "t",
      kind: "write",
      readFirst: true,
      readState: read,
      run: async (_: object) => {
        await Promise.resolve();
        tracer.startSpan("request").end();
        return 1;
      },
    });
    await tracer.startActiveSpan("caller", async (caller) => {
      await tool({}, ONCE);
      tracer.startSpan("after").end();
      caller.end();
    });
    const of = (name: string) => named(seen.spans(), name)[0] as ReadableSpan;
    expect(parentOf(of("execute_tool t"))).toBe(idOf(of("caller")));
    expect(parentOf(of("holdfire t attempt"))).toBe(idOf(of("execute_tool t")));
    expect(parentOf(of("request"))).toBe(idOf(of("holdfire t attempt")));
    expect(parentOf(of("look"))).toBe(idOf(of("execute_tool t")));
    expect(parentOf(of("after"))).toBe(idOf(of("caller")));
    expect(new Set(seen.spans().map((span) => span.spanContext().traceId)).size).toBe(1);
  });

  test("baggage of the caller reaches `run`", async () => {
    registerContexts();
    const seen = telemetry();
    const hf = open();
    instrument(hf, { api, tracerProvider: seen.where.tracerProvider });
    const tool = hf.tool({
      name: "t",
      kind: "write",
      run: async (_: object) => api.propagation.getActiveBaggage()?.getEntry("who")?.value,
    });
    const baggage = api.propagation.createBaggage({ who: { value: "ana" } });
    const mine = api.propagation.setBaggage(api.context.active(), baggage);
    expect(await api.context.with(mine, () => tool({}, ONCE))).toBe("ana");
  });

  test("without the api: the operation is below the caller's span all the same", async () => {
    registerContexts();
    const seen = telemetry();
    const hf = open();
    const tracer = seen.where.tracerProvider.getTracer("app");
    instrument(hf, { tracer });
    const tool = hf.tool({ name: "t", kind: "write", run: async (_: object) => 1 });
    await tracer.startActiveSpan("caller", async (caller) => {
      await tool({}, ONCE);
      caller.end();
    });
    const [attempt, operation, caller] = seen.spans();
    expect(parentOf(operation as ReadableSpan)).toBe(idOf(caller));
    expect(parentOf(attempt as ReadableSpan)).toBe(idOf(operation));
  });

  test("what is registered with the api is used", async () => {
    registerContexts();
    const seen = telemetry();
    api.trace.setGlobalTracerProvider(seen.where.tracerProvider);
    api.metrics.setGlobalMeterProvider(seen.where.meterProvider);
    try {
      const hf = open();
      instrument(hf, { api });
      await hf.tool({ name: "t", kind: "write", run: async (_: object) => 1 })({}, ONCE);
      expect(seen.spans().map(({ instrumentationScope }) => instrumentationScope.name)).toEqual([
        "holdfire",
        "holdfire",
      ]);
      expect(await seen.points("holdfire.operations")).toMatchObject([{ value: 1 }]);
    } finally {
      api.trace.disable();
      api.metrics.disable();
    }
  });
});

describe("metrics", () => {
  test("operations, attempts and replays are counted, durations are in seconds", async () => {
    const { service, order, pass, points } = await watched();
    service.plan(faults.commitThenReset());
    const buy = order("keyed");
    await pass(buy(TEA, ONCE));
    await pass(buy(TEA, ONCE));
    const tool = { "gen_ai.tool.name": "order_keyed" };
    const done = { ...tool, "holdfire.tool.kind": "write", "holdfire.outcome": "committed" };
    expect(await points("holdfire.operations")).toEqual([
      {
        name: "holdfire.operations",
        unit: "{operation}",
        value: 1,
        attributes: { ...done, "holdfire.replayed": false },
      },
      {
        name: "holdfire.operations",
        unit: "{operation}",
        value: 1,
        attributes: { ...done, "holdfire.replayed": true },
      },
    ]);
    expect(await points("holdfire.attempts")).toMatchObject([
      { value: 1, unit: "{attempt}", attributes: { ...tool, "holdfire.licence": "first" } },
      { value: 1, attributes: { ...tool, "holdfire.licence": "keyed" } },
    ]);
    const replayed = { ...tool, "holdfire.outcome": "committed" };
    expect(await points("holdfire.replays")).toMatchObject([{ value: 1, attributes: replayed }]);
    const durations = await points("holdfire.operation.duration");
    // The pause before the resend: half of 250 ms, on the test's clock.
    expect(durations).toMatchObject([
      { unit: "s", value: 1, sum: 0.125 },
      { value: 1, sum: 0 },
    ]);
  });

  test("a request that somebody else repeats is a hidden retry", async () => {
    const { service, hf, points, spans, pass, track } = await watched();
    const url = `${service.url}/keyed/effects`;
    const tool = hf.tool({
      name: "twice",
      kind: "write",
      run: async (_: object) => {
        for (let i = 0; i < 3; i += 1) {
          await track(fetch(url, { method: "POST", body: "{}" }).then((answer) => answer.text()));
        }
        return 1;
      },
    });
    await pass(tool.outcome({}, ONCE));
    expect(await points("holdfire.hidden_retries")).toMatchObject([
      { value: 2, attributes: { "gen_ai.tool.name": "twice", "holdfire.stopped": false } },
    ]);
    expect(named(spans(), "holdfire twice attempt")[0]?.attributes).toMatchObject({
      "holdfire.hidden_retries": 2,
      "holdfire.wire_requests": 3,
    });
  });

  test("an effect that is there twice is a duplicate", async () => {
    const { service, order, pass, points } = await watched();
    service.plan(faults.duplicateDelivery());
    service.plan(faults.commitThenReset());
    const client = service.client("readable");
    const tool = order("readable", {
      readState: async () => ({ reading: "duplicated", results: [await client.find({})].flat() }),
    });
    await pass(tool.outcome({ item: "a" }, ONCE));
    await pass(tool.outcome({ item: "b" }, ONCE));
    expect(await points("holdfire.duplicates")).toMatchObject([
      { value: 1, attributes: { "holdfire.source": "read" } },
    ]);
  });
});

describe("who sees what", () => {
  const SECRET = "canary-4711";

  test("no attribute holds an argument, a result, a scope, a key or an error's words", async () => {
    const seen = telemetry();
    const hf = open();
    instrument(hf, seen.where);
    const failing = Object.assign(new Error(SECRET), {
      code: `${SECRET} is no code`,
      body: SECRET,
    });
    const tool = hf.tool({
      name: "t",
      kind: "write",
      resource: ({ card }: { card: string }) => `card/${card}`,
      run: async ({ card }: { card: string; fail: boolean }, { key }) => {
        if (card.endsWith("fail")) throw failing;
        return { card, key };
      },
      readState: async () => {
        throw failing;
      },
      attempts: 1,
    });
    const good = await tool.outcome({ card: SECRET, fail: false }, { scope: SECRET });
    const bad = await tool.outcome({ card: `${SECRET}fail`, fail: true }, { scope: `${SECRET}-2` });
    expect([good.status, bad.status]).toEqual(["committed", "unknown"]);
    const all = JSON.stringify([
      seen.spans().map(({ name, attributes, status, events, links }) => ({
        name,
        attributes,
        status,
        events,
        links,
      })),
      await seen.points(),
    ]);
    expect(all).toContain(keyHash(good.key));
    for (const word of [SECRET, good.key, good.id, bad.key, bad.id])
      expect(all).not.toContain(word);
    const metrics = JSON.stringify(await seen.points());
    expect(metrics).not.toContain(keyHash(good.key));
  });

  test("another tenant's work is not seen", async () => {
    const ours = telemetry();
    const theirs = telemetry();
    const hf = open();
    const other = hf.forTenant("other");
    instrument(hf, ours.where);
    instrument(other, theirs.where);
    await hf.tool({ name: "mine", kind: "write", run: async (_: object) => 1 })({}, ONCE);
    await other.tool({ name: "theirs", kind: "write", run: async (_: object) => 1 })({}, ONCE);
    const tools = ({ spans }: typeof ours) =>
      new Set(spans().map(({ attributes }) => attributes["gen_ai.tool.name"]));
    expect(tools(ours)).toEqual(new Set(["mine"]));
    expect(tools(theirs)).toEqual(new Set(["theirs"]));
    expect(JSON.stringify(await ours.points())).not.toContain("theirs");
  });
});

describe("watching changes nothing", () => {
  const broken = () => {
    throw new Error("broken");
  };

  test("a tracer and a meter that throw", async () => {
    const hf = open();
    instrument(hf, {
      tracer: { startSpan: broken },
      meter: {
        createCounter: () => ({ add: broken }),
        createHistogram: () => ({ record: broken }),
      },
    });
    let fired = 0;
    const tool = hf.tool({ name: "t", kind: "write", run: async (_: object) => ++fired });
    expect(await tool({}, ONCE)).toBe(1);
    expect(fired).toBe(1);
  });

  test.each([
    ["throws before", () => broken()],
    ["never calls", () => undefined],
    ["calls twice", (run: () => unknown) => [run(), run()]],
    ["throws after", (run: () => unknown) => [run(), broken()]],
    ["calls later", (run: () => unknown) => setImmediate(run)],
    ["rejects", (run: () => unknown) => Promise.resolve(run()).then(broken)],
    ["is no function", 4711 as never],
  ])("a wrap that %s: the tool is fired once, with its result", async (_, wrap) => {
    const hf = open();
    hf.on("operation", ({ around }) => around(wrap));
    hf.on("attempt", ({ around }) => around(wrap));
    let fired = 0;
    const tool = hf.tool({ name: "t", kind: "write", run: async (_: object) => ++fired });
    expect(await tool({}, ONCE)).toBe(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(fired).toBe(1);
  });

  test("once stopped, nothing more is told", async () => {
    const { order, pass, spans, stop } = await watched();
    stop();
    await pass(order("keyed")(TEA, ONCE));
    expect(spans()).toEqual([]);
  });

  test("nowhere to tell it is an error that says what to pass", () => {
    const hf = open();
    expect(() => instrument(hf, {})).toThrow(/options: must name at least one of api/);
    expect(() => instrument(hf, { tracr: 1 } as never)).toThrow(/options\.tracr: is not an option/);
  });
});
