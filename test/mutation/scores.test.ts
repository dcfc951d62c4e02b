import { expect, test } from "vitest";
import { percent, type Score, stateOf, totalOf } from "./scores.ts";

const score = (hash: string, parts: Partial<Score> = {}): Score => ({
  hash,
  killed: 0,
  timeout: 0,
  survived: 0,
  noCoverage: 0,
  ignored: 0,
  errors: 0,
  alive: {},
  ...parts,
});

const room = { name: "key", goal: 90 };

test("a score is stale once its source is another one", () => {
  expect(stateOf(score("a"), "a")).toBe("measured");
  expect(stateOf(score("a"), "b")).toBe("stale");
  expect(stateOf(undefined, "a")).toBe("not_measured");
});

test("a mutant that never ends counts as killed, one that no test runs as alive", () => {
  const scores = { "a.ts": score("a", { killed: 8, timeout: 1, noCoverage: 1, ignored: 50 }) };
  expect(totalOf(room, { "a.ts": "a" }, scores)).toMatchObject({
    mutants: 10,
    killed: 9,
    score: 90,
    verdict: "reached",
  });
});

test("a room is judged by all its mutants, not by the mean of its files", () => {
  const scores = {
    "a.ts": score("a", { killed: 10 }),
    "b.ts": score("b", { killed: 79, survived: 21 }),
  };
  expect(totalOf(room, { "a.ts": "a", "b.ts": "b" }, scores)).toMatchObject({
    score: 80.9,
    verdict: "missed",
  });
});

test("a room with a file that is stale or was never measured is not judged", () => {
  const scores = { "a.ts": score("a", { survived: 10 }) };
  expect(totalOf(room, { "a.ts": "changed" }, scores).verdict).toBe("not_judged");
  expect(totalOf(room, { "a.ts": "a", "b.ts": "b" }, scores).verdict).toBe("not_judged");
});

test("a score is not rounded up to its goal", () => {
  expect(percent(8_999, 10_000)).toBe(89.9);
  expect(percent(0, 0)).toBeUndefined();
});
