/** What a process knows of its store's time: bounds, by two clocks of its own that can both be wrong. */
import { expect, test } from "vitest";
import { instantOf } from "../../src/lang/clock.ts";
import { storeClock } from "../../src/ledger/store-clock.ts";

/** Two clocks of one host, each set by hand. */
function handClock({ wall = 1_000, monotonic = 0 } = {}) {
  const hands = { wall, monotonic };
  return {
    clock: { now: () => hands.wall, monotonic: () => hands.monotonic, after: () => () => {} },
    pass(ms: { wall: number; monotonic: number }) {
      hands.wall += ms.wall;
      hands.monotonic += ms.monotonic;
    },
  };
}

/** A store that answered `now` 10 ms after it was asked. */
async function asked(now: number) {
  const { clock, pass } = handClock();
  const time = storeClock(clock);
  const answer = await time.timed(async () => {
    pass({ wall: 10, monotonic: 10 });
    return { now, text: "kept" };
  });
  return { clock, time, pass, answer };
}

test("before the store has said anything, its time is taken from the wall clock", () => {
  const { clock, pass } = handClock({ wall: 700 });
  const time = storeClock(clock);
  pass({ wall: 5, monotonic: 5 });
  expect([time.said(), time.earliest(), time.latest(), time.skew()]).toEqual([700, 705, 705, 0]);
});

test("an answer came at some time between the question and its arrival", async () => {
  const { time, answer } = await asked(50_000);
  expect(answer).toEqual({ now: 50_000, text: "kept" });
  expect([time.said(), time.earliest(), time.latest()]).toEqual([50_000, 50_000, 50_010]);
});

test("while the host sleeps, a right does not begin and may have ended", async () => {
  const { time, pass } = await asked(50_000);
  pass({ wall: 3_000, monotonic: 100 });
  expect([time.earliest(), time.latest()]).toEqual([50_100, 53_010]);
});

test("a wall clock that is set back makes nothing begin or end earlier than it does", async () => {
  const { time, pass } = await asked(50_000);
  pass({ wall: -9_000, monotonic: 100 });
  expect([time.earliest(), time.latest()]).toEqual([50_000, 50_110]);
});

test("a right begins by the clock that shows less, and ends by the one that shows more", async () => {
  const { time, pass } = await asked(50_000);
  pass({ wall: 40, monotonic: 100 });
  expect([time.earliest(), time.latest()]).toEqual([50_040, 50_110]);
});

test("times are whole, rounded to the careful side", async () => {
  const { time, pass } = await asked(50_000);
  pass({ wall: 0.5, monotonic: 0.5 });
  expect([time.earliest(), time.latest()]).toEqual([50_000, 50_011]);
});

test("the skew is how far the wall clock is ahead of the store's", async () => {
  const { time, pass } = await asked(400);
  expect(time.skew()).toBe(610);
  pass({ wall: 0.4, monotonic: 0.4 });
  expect(time.skew()).toBe(610);
});

test("a moment that was taken before is judged as it was then", async () => {
  const { clock, time, pass } = await asked(50_000);
  pass({ wall: 20, monotonic: 20 });
  const then = instantOf(clock);
  pass({ wall: 500, monotonic: 500 });
  expect([time.earliest(then), time.latest(then)]).toEqual([50_020, 50_030]);
  expect(time.skew(then)).toBe(1_030 - 50_020);
});

test("an answer that is noted without waiting for it counts like one that was awaited", async () => {
  const { clock, time, pass } = await asked(50_000);
  const question = instantOf(clock);
  pass({ wall: 7, monotonic: 7 });
  time.answered(60_000, question);
  expect([time.said(), time.earliest(), time.latest()]).toEqual([60_000, 60_000, 60_007]);
});
