/** The judge of the battery catches stacks that do each wrong there is, and clears one that does none. */
import { describe, expect, test } from "vitest";
import {
  type Evidence,
  judge,
  type Told,
  verdictOf,
  type Wish,
} from "../../bench/battery/judge.ts";
import type { Said } from "../../bench/battery/stack.ts";

const TEA: Wish = { name: "w1", item: "tea", isWanted: true };

const told = (said: Said, { wish = "w1", at = 10 } = {}): Told => ({
  wish,
  said,
  words: said,
  at,
  ms: 5,
});

/** What the service logged of a write: a number, the time, and what was done to it. */
const arrival = (seq: number, { at = seq, item = "tea", tag = "" } = {}) => ({
  seq,
  at,
  intent: { item },
  fault: tag === "" ? undefined : { tag },
});

const effect = (of: number, item = "tea") => ({ arrival: of, intent: { item } });

const seen = (parts: Partial<Evidence>): Evidence => ({
  wishes: [TEA],
  told: [told("done")],
  standing: {},
  arrivals: [arrival(1)],
  effects: [effect(1)],
  ...parts,
});

const CLEAN = {
  duplicates: 0,
  silentLosses: 0,
  untrueWords: 0,
  falseDedupes: 0,
  wantedNotDone: 0,
  leftUnknown: 0,
  extraSends: 0,
};

test("an effect that nobody asked for is one too many, also if only its amount is another", () => {
  const wishes = [{ ...TEA, cents: 4_000 }];
  const made = (cents: number, seq: number) => ({ arrival: seq, intent: { item: "tea", cents } });
  expect(judge(seen({ wishes, effects: [made(4_000, 1)] }))).toMatchObject({
    effects: 1,
    ...CLEAN,
  });
  const both = judge(seen({ wishes, effects: [made(4_000, 1), made(5_000, 2)] }));
  expect(both).toMatchObject({ ...CLEAN, effects: 1, duplicates: 1 });
});

test("the old amount twice does not stand for the new one", () => {
  const wishes = [
    { ...TEA, cents: 4_000 },
    { ...TEA, name: "w2", cents: 5_000 },
  ];
  const old = { arrival: 1, intent: { item: "tea", cents: 4_000 } };
  const words = [told("unknown"), told("done", { wish: "w2" })];
  expect(judge(seen({ wishes, told: words, effects: [old, old] }))).toMatchObject({
    duplicates: 1,
    untrueWords: 1,
    wantedNotDone: 1,
  });
});

describe("a stack that does what was wanted", () => {
  test("is cleared", () => {
    const score = judge(seen({}));
    expect(score).toMatchObject({ ...CLEAN, arrivals: 1, effects: 1, answerMs: 5 });
    expect(verdictOf(score)).toBe("ok");
  });

  test("and that was told no by the service, and says so", () => {
    const wishes = [{ ...TEA, isWanted: false }];
    const score = judge(seen({ wishes, told: [told("failed")], effects: [] }));
    expect(score).toMatchObject(CLEAN);
  });

  test("and whose request the network delivers twice, is not blamed for the copy", () => {
    const arrivals = [1, 2].map((seq) => arrival(seq, { tag: "duplicate_delivery" }));
    expect(judge(seen({ arrivals, effects: [effect(1), effect(2)] }))).toMatchObject(CLEAN);
  });

  test("and that says that it failed before it did it, said the truth then", () => {
    const told_ = [told("failed", { at: 5 }), told("done", { at: 20 })];
    const arrivals = [arrival(1, { at: 2, tag: "reset_before" }), arrival(3, { at: 15 })];
    const score = judge(seen({ told: told_, arrivals, effects: [effect(3)] }));
    expect(score).toMatchObject({ ...CLEAN, extraSends: 1 });
  });
});

describe("a planted stack is caught:", () => {
  test("one that fires twice", () => {
    const score = judge(
      seen({ arrivals: [arrival(1), arrival(2)], effects: [effect(1), effect(2)] }),
    );
    expect(score).toMatchObject({ ...CLEAN, duplicates: 1, extraSends: 1 });
    expect(verdictOf(score)).toBe("duplicate");
  });

  test("one that does what the service declined", () => {
    const score = judge(seen({ wishes: [{ ...TEA, isWanted: false }] }));
    expect(verdictOf(score)).toBe("duplicate");
  });

  test("one that loses: it ends, says nothing, and has no record", () => {
    const score = judge(seen({ told: [], effects: [] }));
    expect(score).toMatchObject({ ...CLEAN, silentLosses: 1, wantedNotDone: 1 });
    expect(verdictOf(score)).toBe("lost");
  });

  test("one that loses the knowledge of what it did", () => {
    expect(verdictOf(judge(seen({ told: [] })))).toBe("lost");
  });

  test("one that lies: it says done, and nothing was", () => {
    const score = judge(seen({ effects: [] }));
    expect(score).toMatchObject({ untrueWords: 1, silentLosses: 1, wantedNotDone: 1 });
  });

  test("one that lies: it says that it failed, and it had happened", () => {
    const score = judge(seen({ told: [told("failed")] }));
    expect(score).toMatchObject({ ...CLEAN, untrueWords: 1 });
    expect(verdictOf(score)).toBe("untrue");
  });

  test("one whose no becomes untrue later, when the request takes effect that had arrived before", () => {
    const score = judge(
      seen({ told: [told("failed", { at: 5 }), told("done", { at: 30 })], arrivals: [arrival(1)] }),
    );
    expect(score.untrueWords).toBe(1);
  });

  test("one whose record says that it failed, and it had happened", () => {
    const score = judge(seen({ told: [], standing: { w1: "failed" } }));
    expect(score.untrueWords).toBe(1);
  });

  test("one that holds everything: what is wanted is not done", () => {
    const score = judge(seen({ told: [told("unknown")], arrivals: [], effects: [] }));
    expect(score).toMatchObject({ ...CLEAN, wantedNotDone: 1, leftUnknown: 1 });
    expect(verdictOf(score)).toBe("not_done");
  });

  test("one that takes a wanted second one for a repetition", () => {
    const wishes = [TEA, { ...TEA, name: "w2" }];
    const both = [told("done"), told("done", { wish: "w2" })];
    const score = judge(seen({ wishes, told: both }));
    expect(score).toMatchObject({ ...CLEAN, falseDedupes: 1, wantedNotDone: 1 });
    expect(verdictOf(score)).toBe("false_dedupe");
  });

  test("one that does one of many twice", () => {
    const wishes = [TEA, { ...TEA, name: "w2", item: "milk" }];
    const arrivals = [arrival(1), arrival(2, { item: "milk" }), arrival(3, { item: "milk" })];
    const effects = [effect(1), effect(2, "milk"), effect(3, "milk")];
    const both = [told("done"), told("done", { wish: "w2" })];
    expect(judge(seen({ wishes, told: both, arrivals, effects })).duplicates).toBe(1);
  });

  test("one that leaves it open, and says so, is told apart from one that settles it", () => {
    const open = judge(seen({ told: [told("unknown")] }));
    expect(verdictOf(open)).toBe("left_unknown");
    const settled = judge(seen({ told: [told("unknown")], standing: { w1: "done" } }));
    expect(verdictOf(settled)).toBe("ok");
  });
});
