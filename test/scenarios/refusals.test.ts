import { describe, expect, test } from "vitest";
import {
  closedPort,
  type FaultyService,
  faults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";
import { keysOf, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("a service that is too busy (429)", () => {
  test("without `refuses` it proves nothing: unknown, with a word on how to declare it", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 429 }));
    const outcome = await pass(order("neither").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
    expect(outcome).toMatchObject({ hint: expect.stringContaining("refuses: [429]") });
    expect(service.arrivals).toHaveLength(1);
  });

  test("the error says it too", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 429 }));
    await expect(pass(order("neither")(TEA, ONCE))).rejects.toThrow("refuses: [429]");
  });

  test("with `refuses` it is fired again under the refused licence, with the same key", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 429 }), faults.status({ status: 429 }));
    const outcome = await pass(order("neither", { refuses: [429] }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 3, licence: "refused" });
    expect(new Set(keysOf(service)).size).toBe(1);
    expect(service.effects).toHaveLength(1);
  });

  test("refused to the end it is certainly not applied", async () => {
    const { service, order, pass } = await openWorld();
    service.always(faults.status({ status: 429 }));
    const outcome = await pass(order("neither", { refuses: [429] }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "refused", attempts: 3 });
    expect(service.effects).toHaveLength(0);
  });

  test("a refusal after a lost reply does not lift the doubt", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset(), faults.status({ status: 429 }));
    const keyed = order("keyed", { refuses: [429], attempts: 2 });
    const outcome = await pass(keyed.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "attempts" });
    expect(service.effects).toHaveLength(1);
  });

  test("Retry-After is waited for", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 429, headers: { "retry-after": "7" } }));
    const outcome = await pass(order("neither", { refuses: [429] }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2 });
    const [first, second] = service.arrivals;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBe(7_000);
  });

  test.each([
    ["3600", 1],
    ["86400", 1],
    ["99999999999", 1],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 1],
    ["-1", 3],
    ["NaN", 3],
    ["1e400", 3],
    ["1e12", 3],
    ["Infinity", 3],
    ["0", 3],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 3],
    ["Sun Nov 6 08:49:37 9999", 3],
    ["x".repeat(10_000), 3],
  ])(
    "Retry-After %j never outlasts the deadline and never makes a hot loop",
    async (value, arrivals) => {
      const { service, order, pass, clock } = await openWorld();
      service.always(faults.status({ status: 429, headers: { "retry-after": value } }));
      const began = clock.monotonic();
      const outcome = await pass(order("neither", { refuses: [429] }).outcome(TEA, ONCE));
      expect(outcome).toMatchObject({
        status: "not_applied",
        reason: "refused",
        attempts: arrivals,
      });
      expect(clock.monotonic() - began).toBeLessThanOrEqual(60_000);
      const times = service.arrivals.map(({ at }) => at);
      expect(times.slice(1).every((at, index) => at - (times[index] ?? 0) >= 100)).toBe(true);
    },
  );

  test("of two Retry-After headers neither is believed", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.status({ status: 429, headers: { "retry-after": ["1", "3600"] } }));
    const outcome = await pass(order("neither", { refuses: [429] }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2 });
  });
});

describe("a connection that is refused", () => {
  test("is not sent: told as that, and fired again only at the caller's word", async () => {
    const { hf, pass, track, clock } = await openWorld();
    const port = await closedPort();
    const post = hf.tool({
      name: "post",
      kind: "write",
      run: (args: { item: string }) =>
        track(fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(args) })),
    });
    const outcome = await pass(post.outcome({ item: "tea" }, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent", attempts: 1 });
    await clock.advance(3_600_000);
    const later = await pass(post.outcome({ item: "tea" }, ONCE));
    expect(later).toMatchObject({ status: "not_applied", replayed: true, attempts: 1 });
    const again = await pass(post.outcome({ item: "tea" }, { ...ONCE, retry: "it is up again" }));
    expect(again).toMatchObject({ status: "not_applied", licence: "not_sent", attempts: 2 });
  });

  test("is fired again where all goes through context.fetch, and in the end certainly not applied", async () => {
    const { hf, pass, track } = await openWorld();
    const port = await closedPort();
    const post = hf.tool({
      name: "post",
      kind: "write",
      via: "http",
      run: (args: { item: string }, { fetch }) =>
        track(fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify(args) })),
    });
    const outcome = await pass(post.outcome({ item: "tea" }, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent", attempts: 3 });
    expect(outcome.licence).toBe("not_sent");
  });

  test("and then accepted, commits once", async () => {
    const { hf, pass, track } = await openWorld();
    const port = await closedPort();
    const up: FaultyService[] = [];
    const post = hf.tool({
      name: "post",
      kind: "write",
      via: "http",
      run: async (args: { item: string }, { attempt, key, fetch }) => {
        if (attempt === 3) up.push(await track(startFaultyService({ port })));
        const to = `http://127.0.0.1:${port}/neither/effects`;
        const headers = { "idempotency-key": key };
        return track(fetch(to, { method: "POST", headers, body: JSON.stringify(args) }));
      },
    });
    const outcome = await pass(post.outcome({ item: "tea" }, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 3, licence: "not_sent" });
    expect(up[0]?.effects).toHaveLength(1);
    expect(up[0]?.arrivals).toMatchObject([{ key: outcome.key }]);
    await up[0]?.close();
  });

  test("after a redirect it proves nothing: the first request did arrive", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.redirect({ to: `http://127.0.0.1:${await closedPort()}/` }));
    const outcome = await pass(order("neither").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("after another request of the same run it proves nothing", async () => {
    const { service, order, pass, client } = await openWorld();
    const port = await closedPort();
    const mail = order("neither", {
      run: async (args) => {
        const made = await client("neither").create(args);
        await fetch(`http://127.0.0.1:${port}/`);
        return made;
      },
    });
    const outcome = await pass(mail.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
    expect(service.effects).toHaveLength(1);
  });
});

describe("a redirect", () => {
  test("is one request with its hop, and the answer at its end counts", async () => {
    const { service, order, pass, heard } = await openWorld();
    service.plan(faults.redirect({ to: "/neither/effects" }));
    const outcome = await pass(order("neither").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1, wireRequests: 1 });
    expect(heard("warning", "hidden_retry")).toEqual([]);
    expect(service.effects).toHaveLength(1);
  });
});

describe("the network delivers the request twice", () => {
  test("a keyed service makes one effect of it", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.duplicateDelivery());
    const outcome = await pass(order("keyed").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1, wireRequests: 1 });
    expect(service.arrivals).toHaveLength(2);
    expect(service.effects).toHaveLength(1);
  });

  test("a conditional service makes one effect of it", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.duplicateDelivery());
    const outcome = await pass(order("conditional").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.effects).toHaveLength(1);
  });
});

describe("a clear no", () => {
  test.each([400, 401, 402, 403, 404, 405, 410, 413, 414, 415, 422, 428, 431, 451, 412])(
    "%i is rejected: one send, not applied",
    async (status) => {
      const { service, order, pass } = await openWorld();
      service.plan(faults.status({ status }));
      const outcome = await pass(order("neither").outcome(TEA, ONCE));
      expect(outcome).toMatchObject({
        status: "not_applied",
        reason: "rejected",
        rejection: { status },
        attempts: 1,
      });
      expect(service.arrivals).toHaveLength(1);
    },
  );

  test.each([406, 408, 409, 411, 416, 418, 423, 424, 425, 429, 500, 501, 502, 503, 504, 599])(
    "%i proves nothing: one send, unknown",
    async (status) => {
      const { service, order, pass } = await openWorld();
      service.plan(faults.status({ status }));
      const outcome = await pass(order("neither").outcome(TEA, ONCE));
      expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
      expect(service.arrivals).toHaveLength(1);
    },
  );

  test("on a keyed tool 422, and 400 with an idempotency error, prove nothing", async () => {
    const { service, order, pass } = await openWorld();
    const body = { error: { type: "idempotency_error" } };
    service.plan(faults.status({ status: 422 }));
    expect(await pass(order("keyed", { attempts: 1 }).outcome(TEA, ONCE))).toMatchObject({
      status: "unknown",
    });
    service.plan(faults.status({ status: 400, body }));
    const milk = order("keyed", { attempts: 1 }).outcome({ item: "milk" }, ONCE);
    expect(await pass(milk)).toMatchObject({ status: "unknown" });
    service.plan(faults.status({ status: 400 }));
    const bread = order("keyed", { attempts: 1 }).outcome({ item: "bread" }, ONCE);
    expect(await pass(bread)).toMatchObject({ status: "not_applied", reason: "rejected" });
  });

  test("`classify` may say more, and no opinion leaves it as it was", async () => {
    const { service, order, pass } = await openWorld();
    const classify = (error: unknown) =>
      (error as { status?: number }).status === 402 ? ("rejected" as const) : undefined;
    service.plan(faults.status({ status: 402 }), faults.status({ status: 500 }));
    const tool = order("neither", { classify });
    expect(await pass(tool.outcome(TEA, ONCE))).toMatchObject({ status: "not_applied" });
    const milk = await pass(tool.outcome({ item: "milk" }, ONCE));
    expect(milk).toMatchObject({ status: "unknown" });
  });
});
