/** When a store listens, what it asks other processes for, and when it stops; against no server. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Connection } from "../../src/stores/postgres/client.ts";
import { createWatchers, type Watchers } from "../../src/stores/postgres/watchers.ts";
import { type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";

type Listener = Parameters<NonNullable<Connection["listen"]>>[1];

let clock: VirtualClock;
let watchers: Watchers;
/** Each time it began to listen, and what it is told there. */
let listeners: Listener[];
let stops: number;
let asked: [key: string, forMs: number][];
/** The next question to other processes fails. */
let fails: boolean;
let refuses: boolean;

beforeEach(() => {
  clock = virtualClock();
  [listeners, asked, stops, fails, refuses] = [[], [], 0, false, false];
  watchers = createWatchers({
    clock,
    channel: async () => "channel",
    connection: {
      listen: async (_channel, listener) => {
        if (refuses) throw new Error("too many connections");
        listeners.push(listener);
        return {
          stop: async () => {
            stops += 1;
          },
        };
      },
    },
    register: async (key, forMs) => {
      asked.push([key, forMs]);
      if (fails) throw new Error("the server is gone");
    },
  });
});

/** Watches, and counts what it is told. */
async function watch(key: string) {
  const heard = { calls: 0, stop: () => {} };
  heard.stop = watchers.watch(key, () => {
    heard.calls += 1;
  });
  await clock.settle();
  return heard;
}

describe("a watcher", () => {
  test("is called once others know of it: the record may have changed before", async () => {
    const one = await watch("a");
    expect([one.calls, asked, listeners.length]).toEqual([1, [["a", 60_000]], 1]);
  });

  test("hears of its own record, from this store and from others, and of no other", async () => {
    const one = await watch("a");
    watchers.announce("a");
    listeners[0]?.heard("a");
    expect(one.calls).toBe(3);
    watchers.announce("b");
    listeners[0]?.heard("b");
    expect(one.calls).toBe(3);
    one.stop();
    watchers.announce("a");
    expect(one.calls).toBe(3);
  });

  test("that throws keeps nothing from the next one", async () => {
    watchers.watch("a", () => {
      throw new Error("mine");
    });
    const one = await watch("a");
    const before = one.calls;
    watchers.announce("a");
    expect(one.calls).toBe(before + 1);
  });

  test("that was given twice is called twice, and stopped once", async () => {
    let calls = 0;
    const call = () => {
      calls += 1;
    };
    const stop = watchers.watch("a", call);
    watchers.watch("a", call);
    await clock.settle();
    calls = 0;
    watchers.announce("a");
    expect(calls).toBe(2);
    stop();
    stop();
    watchers.announce("a");
    expect(calls).toBe(3);
  });

  test("that was stopped takes nothing from one that has come since", async () => {
    const first = await watch("a");
    first.stop();
    const second = await watch("a");
    const before = second.calls;
    first.stop();
    watchers.announce("a");
    expect(second.calls).toBe(before + 1);
  });
});

describe("other processes are asked to announce a record", () => {
  test("once for all who wait for it, and again before they would stop", async () => {
    await watch("a");
    await watch("a");
    await clock.advance(39_999);
    await watch("a");
    expect(asked).toHaveLength(1);
    await clock.advance(1);
    await watch("a");
    expect(asked).toHaveLength(2);
    await watch("b");
    expect(asked.map(([key]) => key)).toEqual(["a", "a", "b"]);
  });

  test("again at once, where they could not be asked", async () => {
    fails = true;
    const one = await watch("a");
    expect(one.calls).toBe(0);
    fails = false;
    await watch("a");
    expect(asked).toHaveLength(2);
    expect(one.calls).toBe(1);
  });

  test("not before it listens: without a connection callers poll, and the next one tries again", async () => {
    refuses = true;
    const one = await watch("a");
    expect([asked, one.calls]).toEqual([[], 0]);
    refuses = false;
    await watch("a");
    expect([asked.length, listeners.length]).toEqual([1, 1]);
  });
});

describe("its connection", () => {
  test("is one for all, and goes back when nobody has waited for ten seconds", async () => {
    const [one, two] = [await watch("a"), await watch("b")];
    one.stop();
    await clock.advance(60_000);
    expect([listeners.length, stops]).toEqual([1, 0]);
    two.stop();
    await clock.advance(9_999);
    expect(stops).toBe(0);
    await clock.advance(1);
    expect(stops).toBe(1);
    await watch("a");
    expect(listeners).toHaveLength(2);
  });

  test("is kept by a caller that comes within that time", async () => {
    const one = await watch("a");
    one.stop();
    await clock.advance(9_000);
    const two = await watch("a");
    await clock.advance(60_000);
    expect([listeners.length, stops]).toEqual([1, 0]);
    two.stop();
    await clock.advance(10_000);
    expect(stops).toBe(1);
  });

  test("that was lost, or was made anew, may have missed changes: all who wait are called", async () => {
    const [one, two] = [await watch("a"), await watch("b")];
    listeners[0]?.restarted();
    expect([one.calls, two.calls]).toEqual([2, 2]);
    listeners[0]?.ended();
    expect([one.calls, two.calls]).toEqual([3, 3]);
    await watch("c");
    expect(listeners).toHaveLength(2);
  });

  test("ends with the store, and nothing is heard after", async () => {
    const one = await watch("a");
    const { calls } = one;
    await watchers.close();
    expect(stops).toBe(1);
    watchers.announce("a");
    listeners[0]?.restarted();
    one.stop();
    expect(one.calls).toBe(calls);
    expect(clock.pending()).toBe(0);
  });

  test("ends with the store also in the time that nobody waits", async () => {
    (await watch("a")).stop();
    await watchers.close();
    expect([stops, clock.pending()]).toEqual([1, 0]);
  });
});
