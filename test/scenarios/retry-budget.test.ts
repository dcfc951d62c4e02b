import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { faults } from "../../src/testing/faulty-service.ts";
import { openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };
const BUSY = faults.status({ status: 503 });
/** Only successes bring resends back. */
const UNTIMED = { hf: { retry: { budget: { perSecond: 0 } } } };
/** Two resends, the third in an hour. */
const SLOW = { hf: { retry: { budget: { tokens: 2, perSecond: 1 / 3_600 } } } };

const items = (count: number) => Array.from({ length: count }, (_, n) => ({ item: `item ${n}` }));

describe("the retry budget sets the pace, not the fate", () => {
  test("50 keyed calls at once, each answered by one 503 and then accepted, all commit", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(...Array(50).fill(BUSY));
    const keyed = order("keyed");
    const outcomes = await pass(Promise.all(items(50).map((item) => keyed.outcome(item, ONCE))));
    expect(outcomes.filter(({ status }) => status === "committed")).toHaveLength(50);
    expect(service.effects).toHaveLength(50);
    // Ten resends at once, then about one a second.
    const resends = service.arrivals.slice(50).map(({ at }) => at);
    const [first = 0] = resends;
    expect(resends.filter((at) => at - first < 1_000).length).toBeLessThanOrEqual(11);
    expect(new Set(resends.slice(10)).size).toBe(40);
  });

  test("100 calls against a service that says 429 with Retry-After all commit in the end", async () => {
    const { hf, clock, pass, track } = await openWorld();
    const bookings: string[] = [];
    const taken = new Map<number, number>();
    const limited = createServer((request, response) => {
      const second = Math.floor(clock.monotonic() / 1_000);
      const count = (taken.get(second) ?? 0) + 1;
      taken.set(second, count);
      if (count > 5) response.writeHead(429, { "retry-after": "1" }).end();
      else {
        bookings.push(String(request.url));
        response.writeHead(201).end();
      }
    }).listen(0, "127.0.0.1");
    await once(limited, "listening");
    onTestFinished(() => void limited.close());
    const { port } = limited.address() as AddressInfo;
    const book = hf.tool({
      name: "book",
      kind: "write",
      refuses: [429],
      run: ({ item }: { item: string }) =>
        track(fetch(`http://127.0.0.1:${port}/${encodeURI(item)}`, { method: "POST" })),
    });
    let open = items(100);
    for (let round = 0; open.length > 0 && round < 5; round += 1) {
      const outcomes = await pass(Promise.all(open.map((item) => book.outcome(item, ONCE))));
      expect(outcomes.filter(({ status }) => status === "unknown")).toEqual([]);
      open = open.filter((_, index) => outcomes[index]?.status !== "committed");
      // Longer than a certain no is replayed.
      await clock.advance(60_000);
    }
    expect(open).toEqual([]);
    expect(new Set(bookings).size).toBe(100);
    expect(bookings).toHaveLength(100);
  });

  test("empty, it is left unknown; a first attempt is still free", async () => {
    const { service, order, pass } = await openWorld(UNTIMED);
    service.always(faults.resetBefore());
    const keyed = order("keyed", { attempts: 11 });
    const spent = await pass(keyed.outcome(TEA, ONCE));
    expect(spent).toMatchObject({ status: "unknown", attempts: 11, reason: "attempts" });
    const milk = await pass(keyed.outcome({ item: "milk" }, ONCE));
    expect(milk).toMatchObject({ status: "unknown", attempts: 1, reason: "budget" });
    expect(service.arrivals).toHaveLength(12);
  });

  test.each(["the same call", "reconcile"] as const)(
    "what it left unknown goes on later, by %s",
    async (how) => {
      const { hf, service, order, pass, clock } = await openWorld(SLOW);
      service.plan(BUSY, BUSY, BUSY);
      const keyed = order("keyed");
      const call = (item: string) => keyed.outcome({ item }, ONCE);
      const outcomes = await pass(Promise.all([call("tea"), call("milk"), call("rum")]));
      expect(outcomes.map(({ status }) => status)).toEqual(["committed", "committed", "unknown"]);
      expect(outcomes[2]).toMatchObject({ reason: "budget", attempts: 1 });
      // Still empty: nothing is sent, and the reason stays.
      expect(await pass(call("rum"))).toMatchObject({ status: "unknown", reason: "budget" });
      expect(service.arrivals).toHaveLength(5);
      await clock.advance(3_600_000);
      if (how === "reconcile") {
        const report = await pass(hf.reconcile({ resend: true }));
        expect(report).toMatchObject({ committed: 1, resent: 1 });
      }
      expect(await pass(call("rum"))).toMatchObject({ status: "committed", attempts: 2 });
      expect(service.effects).toHaveLength(3);
    },
  );

  test("a certain failure ends as not applied when there is no token in time", async () => {
    const { service, order, pass } = await openWorld(UNTIMED);
    service.always(faults.status({ status: 429 }));
    const mail = order("neither", { refuses: [429], attempts: 20 });
    const outcome = await pass(mail.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "refused", attempts: 11 });
    expect(service.arrivals).toHaveLength(11);
  });

  test("it is shared by the tools of one service, and by nobody else", async () => {
    const { service, order, pass } = await openWorld(UNTIMED);
    service.always(faults.resetBefore());
    const shop = order("keyed", { name: "shop", service: "shop", attempts: 11 });
    await pass(shop.outcome(TEA, ONCE));
    const same = order("keyed", { name: "shop_too", service: "shop" });
    expect(await pass(same.outcome(TEA, ONCE))).toMatchObject({ reason: "budget", attempts: 1 });
    const other = order("keyed", { name: "other" });
    expect(await pass(other.outcome(TEA, ONCE))).toMatchObject({ reason: "attempts", attempts: 3 });
  });

  test("ten successes give one resend back", async () => {
    const { service, order, pass } = await openWorld(UNTIMED);
    service.always(faults.resetBefore());
    const keyed = order("keyed", { attempts: 11 });
    await pass(keyed.outcome(TEA, ONCE));
    service.always(undefined);
    for (const item of items(10)) await pass(keyed.outcome(item, ONCE));
    service.plan(faults.resetBefore());
    const outcome = await pass(keyed.outcome({ item: "one more" }, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2 });
  });

  test("a caller that leaves while it waits gives its token back", async () => {
    const budget = { tokens: 1, perSecond: 0 };
    const { hf, service, order, pass, clock } = await openWorld({ hf: { retry: { budget } } });
    const mail = order("neither", { refuses: [429] });
    service.plan(faults.status({ status: 429, headers: { "retry-after": "10" } }));
    const left = new AbortController();
    const stop = hf.on("verdict", () => setImmediate(() => left.abort()));
    await pass(mail.outcome(TEA, { ...ONCE, signal: left.signal }));
    stop();
    await clock.advance(20_000);
    expect(service.arrivals).toHaveLength(1);
    service.plan(faults.status({ status: 429 }));
    const outcome = await pass(mail.outcome({ item: "rum" }, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2 });
  });
});
