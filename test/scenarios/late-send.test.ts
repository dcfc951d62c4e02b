/** A write that leaves after its attempt has ended, or after its time: what was certain is not, and stays so. */
import { expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { startService } from "../wire/servers.ts";
import { openWorld } from "./world.ts";

const ONCE = { scope: "job-1" };
const body = "{}";

/** A tool whose branch pays long after the other branch was answered 404, and with it the attempt. */
async function openLate(
  notify: (nth: number, answer: () => void) => void = (_, answer) => answer(),
) {
  const world = await openWorld();
  const bank = await startService((_, response) => response.writeHead(201).end());
  const notifier = await startService((_, response, nth) =>
    notify(nth, () => response.writeHead(404).end()),
  );
  const begin: (() => Promise<void>)[] = [];
  const run = async (): Promise<string> => {
    let start = () => {};
    const started = new Promise<void>((resolve) => {
      start = resolve;
    });
    const paying = started.then(() => fetch(bank.url, { method: "POST", body }));
    const paid = paying.then(
      () => {},
      () => {},
    );
    begin.push(() => {
      start();
      return paid;
    });
    const told = await world.track(fetch(notifier.url, { method: "POST", body }));
    if (!told.ok) throw new Error(`HTTP ${told.status}`);
    await paying;
    return "paid";
  };
  return { ...world, run, begin, bankUrl: bank.url, payments: () => bank.arrived.length };
}

test("absent is no proof until the late write has had its time, too", async () => {
  const { hf, run, begin, payments, pass, clock } = await openLate();
  let visibleAt = Number.POSITIVE_INFINITY;
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run,
    readState: () => (clock.monotonic() >= visibleAt ? committed("paid") : absent()),
    commitsWithinMs: 10_000,
  });
  const { id } = await pass(pay.outcome({}, ONCE));
  await clock.advance(60_000);
  await begin[0]?.();
  visibleAt = clock.monotonic() + 9_000;
  await expect.poll(() => hf.operations.get(id)).toMatchObject({ reason: "late_send" });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "committed", attempts: 1 });
  expect(payments()).toBe(1);
});

test("a person who looked before the late write, or while it may be under way, cannot say that nothing happened", async () => {
  const { hf, run, begin, pass, clock } = await openLate();
  const lost = Object.assign(new Error("reset"), { code: "ECONNRESET" });
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: () => run().catch(() => Promise.reject(lost)),
  });
  const { id, status } = await pass(pay.outcome({}, ONCE));
  expect(status).toBe("unknown");
  const seen = (await hf.operations.get(id))?.at;
  await clock.advance(1_000);
  await begin[0]?.();
  const at = async () => (await hf.operations.get(id))?.at ?? 0;
  await expect.poll(at).toBeGreaterThan(seen ?? 0);
  const no = { as: "not_applied", by: "ana" } as const;
  await expect(pass(hf.operations.resolve(id, { ...no, asOf: seen }))).rejects.toThrow(
    "has changed",
  );
  const now = await at();
  await expect(pass(hf.operations.resolve(id, { ...no, asOf: now }))).rejects.toThrow("still");
  await clock.advance(60_000);
  expect(await pass(hf.operations.resolve(id, { ...no, asOf: now }))).toMatchObject({
    status: "not_applied",
  });
});

test("while the operation is tried again, the doubt about its first attempt is kept", async () => {
  let answer = () => {};
  const { hf, run, begin, payments, pass } = await openLate((nth, now) => {
    if (nth === 1) now();
    else answer = now;
  });
  const pay = hf.tool({ name: "pay", kind: "write", run });
  const { id } = await pass(pay.outcome({}, ONCE));
  const again = pay.outcome({}, { ...ONCE, retry: "the address was mended" });
  await expect.poll(() => begin.length).toBe(2);
  await begin[0]?.();
  const attempts = async () => (await hf.operations.get(id))?.attempts;
  await expect.poll(attempts).toMatchObject([{ verdict: "unknown" }, {}]);
  answer();
  expect(await pass(again)).toMatchObject({ status: "unknown", reason: "rejected_in_doubt" });
  expect(await hf.operations.get(id)).toMatchObject({ status: "unknown" });
  expect(payments()).toBe(1);
});

test.each(["fetch", "context.fetch"])(
  "a host that slept, with two calls under way: what another process has paid is not paid by %s",
  async (by) => {
    const { hf, another, pass, track, clock } = await openWorld();
    const bank = await startService((_, response) => response.writeHead(201).end("{}"));
    let wake = () => {};
    const asleep = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const define = (engine: typeof hf, awake: Promise<void>) =>
      engine.tool({
        name: "pay",
        kind: "write",
        run: async ({ to }: { to: string }, context) => {
          await awake;
          const send = by === "fetch" ? fetch : context.fetch;
          await track(send(`${bank.url}/${to}`, { method: "POST", body }));
        },
        readState: ({ intent: { to } }) =>
          bank.arrived.includes(`POST /${to}`) ? committed(undefined) : absent(),
        commitsWithinMs: 1_000,
      });
    const pay = define(hf, asleep);
    const both = ["a", "b"].map((to) => pay.outcome({ to }, ONCE));
    await clock.settle();
    clock.jump(3_600_000);
    const elsewhere = define(another(), Promise.resolve());
    expect(await pass(elsewhere.outcome({ to: "a" }, ONCE))).toMatchObject({ status: "committed" });
    wake();
    await pass(Promise.all(both));
    expect(bank.arrived.filter((line) => line === "POST /a")).toHaveLength(1);
  },
);

test("a client that goes on retrying is stopped, also while the next attempt has not sent yet", async () => {
  const { hf, pass, track } = await openWorld();
  const bank = await startService((_, response, nth) =>
    response.writeHead(nth === 1 ? 503 : 201).end(),
  );
  const payments = () => Math.max(bank.arrived.length - 1, 0);
  let retry = () => {};
  let retried: Promise<unknown> = Promise.resolve();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object, { attempt }) => {
      const send = () => track(fetch(bank.url, { method: "POST", body }));
      if (attempt === 1) {
        await send();
        const pause = new Promise<void>((resolve) => {
          retry = resolve;
        });
        retried = pause.then(send).catch((error: unknown) => error);
        throw new DOMException("too long", "TimeoutError");
      }
      // As while a token is fetched: nothing was seen of this attempt yet.
      retry();
      await retried;
      await send();
    },
    readState: () => (payments() > 0 ? committed(undefined) : absent()),
    commitsWithinMs: 1_000,
  });
  expect(await pass(pay.outcome({}, ONCE))).toMatchObject({ status: "committed", attempts: 2 });
  expect(await retried).toMatchObject({ cause: { code: "ERR_HOLDFIRE_ATTEMPT_ENDED" } });
  expect(payments()).toBe(1);
});

test("an operation that is begun inside an attempt after its end takes the certainty back, too", async () => {
  const { hf, run, pass, track, payments, bankUrl } = await openLate();
  const inner = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => void (await track(fetch(bankUrl, { method: "POST", body }))),
  });
  let begin = () => {};
  let paid: Promise<unknown> = Promise.resolve();
  const outer = hf.tool({
    name: "order",
    kind: "write",
    run: (_: object) => {
      const started = new Promise<void>((resolve) => {
        begin = resolve;
      });
      paid = started.then(() => inner({}));
      return run();
    },
  });
  const { id, status } = await pass(outer.outcome({}, ONCE));
  expect(status).toBe("not_applied");
  begin();
  await pass(paid);
  expect(payments()).toBe(1);
  await expect.poll(() => hf.operations.get(id)).toMatchObject({ reason: "late_send" });
});

test.each([
  ["fetch", { status: "not_applied", reason: "not_sent", attempts: 1 }],
  ["context.fetch", { status: "committed", attempts: 2 }],
])(
  "a clock that was set between the claim and the first write, by %s: stopped, and told as not sent",
  async (by, told) => {
    const { hf, pass, track, clock } = await openWorld();
    const bank = await startService((_, response) => response.writeHead(201).end());
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      via: by === "fetch" ? undefined : "http",
      run: async (_: object, context) => {
        if (context.attempt === 1) clock.jump(-60_000);
        const send = by === "fetch" ? fetch : context.fetch;
        await track(send(bank.url, { method: "POST", body }));
      },
    });
    expect(await pass(pay.outcome({}, ONCE))).toMatchObject(told);
    expect(bank.arrived).toHaveLength(told.attempts - 1);
  },
);
