/** The time that an attempt has noted is over: whoever takes over relies on it that the attempt has ended. */
import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import type { Change, Store } from "../../src/ledger/store.ts";
import type { EffectBody } from "../../src/testing/faulty-service.ts";
import { until, type VirtualClock } from "../engine/virtual-clock.ts";
import { startService } from "../wire/servers.ts";
import { listen, type OrderOptions, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

const isUnknown = ({ record }: Change) => record?.state.tag === "unknown";

describe("an attempt whose noted time runs out is told to stop, and another process can fire it again", () => {
  test.each([
    ["its owner does not reach the store any more", 60_000, 7_000, () => false],
    ["the answer to its owner's last word is lost", 1_000, 3_500, isUnknown],
  ])("where %s", async (_, deadlineMs, slowMs, isWritten) => {
    const { clock, store, order, another, pass } = await openWorld();
    const done: EffectBody[] = [];
    let landsAfterMs = slowMs;
    const slow: OrderOptions = {
      attemptTimeoutMs: 4_000,
      commitsWithinMs: 500,
      readState: async () => (done[0] ? committed(done[0], { effectId: done[0].id }) : absent()),
      // As a client that heeds its signal: the request is torn down then, and does nothing afterwards.
      run: (_args, { signal }) =>
        new Promise((resolve, reject) => {
          const tearDown = clock.after(landsAfterMs, () => {
            const effect = { id: `ef_${done.length + 1}` } as EffectBody;
            done.push(effect);
            resolve(effect);
          });
          signal.addEventListener("abort", () => {
            tearDown();
            reject(signal.reason);
          });
        }),
    };
    let isCutOff = false;
    const cutOff: Store = {
      ...store,
      async swap(change) {
        if (!isCutOff) return store.swap(change);
        if (isWritten(change)) await store.swap(change);
        return new Promise<never>(() => {});
      },
    };
    const owner = order("readable", slow, another({ store: cutOff }));
    const first = owner.outcome(TEA, { ...ONCE, deadlineMs });
    await clock.settle();
    isCutOff = true;
    landsAfterMs = 0;
    await clock.advance(1_500);
    const next = order("readable", slow, another()).outcome(TEA, ONCE);
    await pass(Promise.all([first, next]));
    await clock.advance(slowMs);
    expect(done).toHaveLength(1);
  });
});

const POST = { method: "POST", body: "{}" } as const;

function postByHttp(url: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request(url, { method: "POST" }, (response) => response.resume().once("end", () => resolve({})))
      .on("error", reject)
      .end("{}");
  });
}

/** It does what it is asked after a while, unless its caller has hung up by then. */
async function openSlowService(clock: VirtualClock) {
  const done: EffectBody[] = [];
  const seen = { hungUp: 0, landsAfterMs: 7_000 };
  const { url, arrived } = await startService((_, response) => {
    const land = () => {
      const effect = { id: `ef_${done.length + 1}` } as EffectBody;
      done.push(effect);
      response.end(JSON.stringify(effect));
    };
    // Without a timer where it is at once: the time stands still while a request is waited for.
    const hangUp = seen.landsAfterMs > 0 ? clock.after(seen.landsAfterMs, land) : land();
    response.once("close", () => {
      if (response.writableEnded) return;
      seen.hungUp += 1;
      hangUp?.();
    });
  });
  const readState = async () => (done[0] ? committed(done[0], { effectId: done[0].id }) : absent());
  const options = { attemptTimeoutMs: 4_000, commitsWithinMs: 500, readState } as const;
  return { url, arrived, done, seen, options };
}

/** A store that one process can be cut off from. */
function openCutOff(store: Store) {
  const line = { isCut: false };
  const swap: Store["swap"] = async (change) =>
    line.isCut ? new Promise<never>(() => {}) : store.swap(change);
  return { line, cutOff: { ...store, swap } };
}

describe("a write that heeds no signal is torn down when the noted time of its attempt runs out", () => {
  test.each<[string, OrderOptions["via"], (url: string, own: typeof fetch) => Promise<unknown>]>([
    ["context.fetch", "http", (url, own) => own(url, POST)],
    ["fetch", undefined, (url) => fetch(url, POST)],
    ["node:http", undefined, postByHttp],
  ])("sent by %s: it does not land beside that of the next owner", async (_, via, send) => {
    const { clock, store, order, another, pass, track } = await openWorld();
    const { url, arrived, done, seen, options } = await openSlowService(clock);
    const { line, cutOff } = openCutOff(store);
    const errors: unknown[] = [];
    const run: OrderOptions["run"] = async (_args, context) => {
      const sent = send(url, context.fetch);
      sent.catch((error: unknown) => errors.push(error));
      await (line.isCut ? track(sent) : sent);
      return { id: "of_run" } as EffectBody;
    };
    const slow = { ...options, via, run };
    const owner = order("readable", slow, another({ store: cutOff }));
    const first = owner.outcome(TEA, { ...ONCE, deadlineMs: 60_000 });
    await until(() => arrived.length === 1);
    line.isCut = true;
    seen.landsAfterMs = 0;
    await clock.advance(1_500);
    const next = order("readable", slow, another()).outcome(TEA, ONCE);
    await clock.advance(3_500);
    await expect.poll(() => seen.hungUp).toBe(1);
    await pass(Promise.all([first, next]));
    await clock.advance(7_000);
    expect(done).toHaveLength(1);
    expect(await next).toMatchObject({ status: "committed", attempts: 2 });
    const torn = errors.flatMap((error) => [error, (error as Error).cause]);
    expect(torn).toContainEqual(
      expect.objectContaining({ code: "ERR_HOLDFIRE_ATTEMPT_ENDED", wasSent: true }),
    );
  });

  test.each([
    ["as it is", (error: unknown) => error],
    ["as an error of its own", () => new Error("declined")],
  ])("it may have taken effect, where `run` tells that %s", async (_, told) => {
    const { clock, store, order, another, pass } = await openWorld();
    const { url, arrived, seen, options } = await openSlowService(clock);
    const { line, cutOff } = openCutOff(store);
    const run: OrderOptions["run"] = async (_args, context) => {
      await context.fetch(url, POST).catch((error: unknown) => Promise.reject(told(error)));
      return { id: "of_run" } as EffectBody;
    };
    const hf = another({ store: cutOff });
    const heard = listen(hf);
    const blind = { ...options, readState: undefined, commitsWithinMs: undefined } as const;
    const tool = order("readable", { ...blind, via: "http", run }, hf);
    const outcome = tool.outcome(TEA, { ...ONCE, deadlineMs: 20_000 });
    await until(() => arrived.length === 1);
    line.isCut = true;
    await clock.advance(5_000);
    await expect.poll(() => seen.hungUp).toBe(1);
    line.isCut = false;
    expect(await pass(outcome)).toMatchObject({ status: "unknown", attempts: 1 });
    expect(heard("late")).toMatchObject([{ verdict: "unknown", wireRequests: 1 }]);
  });

  test("not while a longer time is noted, though its call was told that it still runs", async () => {
    const { clock, order, pass } = await openWorld();
    const { url, arrived, done, seen, options } = await openSlowService(clock);
    seen.landsAfterMs = 30_000;
    const run: OrderOptions["run"] = async (_args, context) =>
      (await context.fetch(url, POST)).json() as Promise<EffectBody>;
    const tool = order("readable", { ...options, via: "http", run });
    const outcome = tool.outcome(TEA, { ...ONCE, deadlineMs: 6_000 });
    await until(() => arrived.length === 1);
    expect(await pass(outcome)).toMatchObject({ status: "in_progress", reason: "still_running" });
    await clock.advance(30_000);
    expect({ done, hungUp: seen.hungUp }).toMatchObject({ done: [{}], hungUp: 0 });
    await expect
      .poll(() => tool.outcome(TEA, ONCE))
      .toMatchObject({ status: "committed", attempts: 1 });
  });

  test("not once its effect was found: nobody fires again", async () => {
    const { clock, order, pass } = await openWorld();
    const { url, arrived, done, seen, options } = await openSlowService(clock);
    seen.landsAfterMs = 60_000;
    const run: OrderOptions["run"] = async (_args, context) => {
      await context.fetch(url, POST);
      return { id: "of_run" } as EffectBody;
    };
    const readState = async () => committed({ id: "ef_1" } as EffectBody, { effectId: "ef_1" });
    const tool = order("readable", { ...options, via: "http", run, readState });
    const outcome = tool.outcome(TEA, ONCE);
    await until(() => arrived.length === 1);
    expect(await pass(outcome)).toMatchObject({ status: "committed", attempts: 1 });
    await clock.advance(60_000);
    expect({ done, hungUp: seen.hungUp }).toMatchObject({ done: [{}], hungUp: 0 });
  });

  test("again, where a longer time was noted meanwhile and has run out, too", async () => {
    const { clock, store, order, another } = await openWorld();
    const { url, arrived, seen, options } = await openSlowService(clock);
    const { line, cutOff } = openCutOff(store);
    seen.landsAfterMs = 60_000;
    let goOn = () => {};
    const run: OrderOptions["run"] = async (_args, context) => {
      await context.fetch(`${url}/1`, POST).catch(() => {});
      await new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await context.fetch(`${url}/2`, POST);
      return { id: "of_run" } as EffectBody;
    };
    const slow = { ...options, via: "http", run } as const;
    const owner = order("readable", slow, another({ store: cutOff }));
    void owner.outcome(TEA, { ...ONCE, deadlineMs: 120_000 });
    await until(() => arrived.length === 1);
    line.isCut = true;
    await clock.advance(5_000);
    await expect.poll(() => seen.hungUp).toBe(1);
    line.isCut = false;
    await clock.advance(20_000);
    goOn();
    await until(() => arrived.length === 2);
    line.isCut = true;
    await clock.advance(30_000);
    await expect.poll(() => seen.hungUp).toBe(2);
  });
});
