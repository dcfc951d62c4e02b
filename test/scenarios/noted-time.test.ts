/** The time that an attempt has noted is over: whoever takes over relies on it that the attempt has ended. */
import { describe, expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import type { Change, Store } from "../../src/ledger/store.ts";
import type { EffectBody } from "../../src/testing/faulty-service.ts";
import { type OrderOptions, openWorld, TEA } from "./world.ts";

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
