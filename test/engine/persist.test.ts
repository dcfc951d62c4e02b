import { describe, expect, test } from "vitest";
import { createPersist } from "../../src/engine/store-call.ts";
import type { Moved } from "../../src/ledger/ledger.ts";
import { virtualClock } from "./virtual-clock.ts";

const MOVED: Moved = { tag: "moved", stored: undefined };

describe("a durable move", () => {
  test("is tried until the store has answered, more and more seldom", async () => {
    const clock = virtualClock();
    const tries: number[] = [];
    const persist = createPersist(clock, 1_000, new AbortController().signal);
    const persisted = persist(async () => {
      tries.push(clock.monotonic());
      if (tries.length < 9) throw new Error("down");
      return MOVED;
    });
    expect(await clock.run(persisted)).toBe(MOVED);
    const gaps = tries.slice(1).map((at, index) => at - (tries[index] ?? 0));
    expect(gaps).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  });

  test("a store that hangs is given its time, then asked again", async () => {
    const clock = virtualClock();
    let tries = 0;
    const persist = createPersist(clock, 1_000, new AbortController().signal);
    const persisted = persist(() => {
      tries += 1;
      return tries === 1 ? new Promise(() => {}) : Promise.resolve(MOVED);
    });
    expect(await clock.run(persisted)).toBe(MOVED);
    expect(clock.monotonic()).toBe(1_250);
  });

  test("a refusal is an answer", async () => {
    const clock = virtualClock();
    const refused: Moved = { tag: "refused", why: "stale", stored: undefined };
    const persist = createPersist(clock, 1_000, new AbortController().signal);
    expect(await persist(async () => refused)).toBe(refused);
  });

  test("is given up when the holdfire is closed", async () => {
    const clock = virtualClock();
    const closed = new AbortController();
    const persist = createPersist(clock, 1_000, closed.signal);
    const persisted = persist(() => Promise.reject(new Error("down")));
    await clock.advance(5_000);
    closed.abort();
    expect(await persisted).toBe("closed");
    expect(clock.pending()).toBe(0);
  });
});
