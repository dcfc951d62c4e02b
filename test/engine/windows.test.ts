import { describe, expect, test } from "vitest";
import { isKeyExpired, proofDue } from "../../src/engine/steps/parts/windows.ts";
import { attemptOf } from "./situation.ts";

const WITHIN = 2_000;
const read = (beganAt: number, rest: object = {}) => ({ beganAt, wall: beganAt, ...rest });
const due = (attempt: object, lastRead?: ReturnType<typeof read>) =>
  proofDue([attemptOf(1, attempt)], WITHIN, lastRead);

describe("when an absence is proof", () => {
  test("a while after the end; without that time never, and before the end it is not known", () => {
    expect(due({ endedAt: 1_500 })).toBe(3_500);
    expect(proofDue([attemptOf(1)], undefined, undefined)).toBe("never");
    expect(due({ endedAt: undefined })).toBe("not yet");
  });

  test("of an attempt whose end was not seen: counted from when it ends at the latest", () => {
    expect(due({ endedAt: undefined, endsBy: 6_000 })).toBe(8_000);
    expect(due({ endedAt: 1_500, endsBy: 6_000 })).toBe(3_500);
  });

  test("never where what leaves it cannot be stopped, unless its end was seen", () => {
    expect(due({ endedAt: undefined, endsBy: 6_000, unvetoable: true })).toBe("never");
    expect(due({ endedAt: 1_500, unvetoable: true })).toBe(3_500);
  });

  test("of several, when it is proof for each", () => {
    const attempts = [attemptOf(1, { endedAt: 9_000 }), attemptOf(2, { endedAt: 2_500 })];
    expect(proofDue(attempts, WITHIN, undefined)).toBe(11_000);
    expect(proofDue(attempts.toReversed(), WITHIN, undefined)).toBe(11_000);
    const running = [...attempts, attemptOf(3, { endedAt: undefined })];
    expect(proofDue(running, WITHIN, undefined)).toBe("not yet");
  });
});

describe("a store's clock that was set forward makes no absence proof", () => {
  test("the wall clock has not moved as far: it is due later by the difference", () => {
    // Sent when the wall clock was 100 ahead of the store's; now the store's shows 5,000 more than it should.
    const skew = 100;
    expect(due({ endedAt: 1_500, skew }, read(7_000, { wall: 2_100 }))).toBe(3_500 + 5_000);
    expect(due({ endedAt: 1_500, skew }, read(2_000, { wall: 2_100 }))).toBe(3_500);
  });

  test("nor has the monotonic clock, since the attempt ended here", () => {
    const sinceEnd = new Map([[1, 500]]);
    expect(due({ endedAt: 1_500 }, read(7_000, { sinceEnd }))).toBe(3_500 + 5_000);
    expect(due({ endedAt: 1_500 }, read(2_000, { sinceEnd }))).toBe(3_500);
    expect(due({ endedAt: 1_500 }, read(7_000, { sinceEnd: new Map([[2, 500]]) }))).toBe(3_500);
  });

  test("the clock that has moved least counts", () => {
    const sinceEnd = new Map([[1, 500]]);
    const lastRead = read(7_000, { sinceEnd, wall: 4_000 });
    expect(due({ endedAt: 1_500, skew: 0 }, lastRead)).toBe(3_500 + 5_000);
    const slower = read(7_000, { sinceEnd: new Map([[1, 4_000]]), wall: 4_000 });
    expect(due({ endedAt: 1_500, skew: 0 }, slower)).toBe(3_500 + 3_000);
  });

  test("one that was set back makes nothing due earlier", () => {
    expect(due({ endedAt: 1_500, skew: 0 }, read(1_600, { wall: 9_000 }))).toBe(3_500);
  });
});

describe("whether a service may have forgotten a key", () => {
  const lasts = { lastsMs: 10_000, generation: 0 };
  const expired = (attempt: object, now: number, wall = now) =>
    isKeyExpired([attemptOf(1, { at: 1_000, ...attempt })], lasts, { now, wall });

  test("counted from the first send of this key, to the millisecond", () => {
    expect(expired({}, 11_000)).toBe(false);
    expect(expired({}, 11_001)).toBe(true);
    expect(expired({ generation: 1 }, 99_000)).toBe(false);
    const attempts = [attemptOf(1, { at: 1_000 }), attemptOf(2, { at: 9_000 })];
    expect(isKeyExpired(attempts, lasts, { now: 11_001, wall: 11_001 })).toBe(true);
  });

  test("by whichever clock shows more: one that was set back prolongs nothing", () => {
    const skew = 100;
    expect(expired({ skew }, 2_000, 11_100)).toBe(false);
    expect(expired({ skew }, 2_000, 11_101)).toBe(true);
    expect(expired({ skew }, 11_001, 2_000)).toBe(true);
    // Without the difference of the clocks at the send, the wall clock says nothing.
    expect(expired({ skew: undefined }, 2_000, 99_000)).toBe(false);
  });
});
