/** The storm of processes catches a stack that does wrong on purpose, and is none where nobody is killed. */
import { expect, test } from "vitest";
import { openGround } from "../../bench/battery/run/ground.ts";
import { stormOptionsFrom } from "../../bench/storm-processes/options.ts";
import { runStorm, type Storm } from "../../bench/storm-processes/storm.ts";
import { problemsOf } from "../../bench/storm-processes/verdict.ts";
import { faultsOf, jobsOf } from "../../bench/storm-processes/weather.ts";

const options = stormOptionsFrom(["--intents", "60", "--processes", "2", "--kill-every", "20"]);

test("every intent is delivered twice, the second time not far behind, the same for the same seed", () => {
  const jobs = jobsOf(300, 1);
  const places = new Map<string, number[]>();
  for (const [at, { wish }] of jobs.entries()) {
    places.set(wish.name, [...(places.get(wish.name) ?? []), at]);
  }
  expect(places.size).toBe(300);
  const gaps = [...places.values()].map(([first = 0, second = 0]) => second - first);
  expect(Math.min(...gaps)).toBeGreaterThan(0);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(200);
  expect(jobsOf(300, 1)).toEqual(jobs);
  expect(jobsOf(300, 2)).not.toEqual(jobs);
  expect(faultsOf(300, 1)).toEqual(faultsOf(300, 1));
});

test("a stack that sends twice is caught, with the histories of what went wrong", async () => {
  const ground = await openGround(new Set());
  try {
    const storm = await runStorm("planted_twice", options, ground, () => {});
    expect(storm.kills).toBeGreaterThan(1);
    expect(storm.cutOff).toBeGreaterThan(0);
    // A unique name stays one; the others are there once for each request that was not lost.
    expect(storm.score.duplicates).toBeGreaterThan(40);
    expect(storm.attemptsPerEffect).toBeGreaterThan(1);
    const problems = problemsOf(storm, options);
    expect(problems).toContain(`${storm.score.duplicates} duplicates`);
    expect(storm.wrong[0]).toMatch(/^w\d+, duplicate: 0 ms arrived/);
  } finally {
    await ground.end();
  }
}, 60_000);

const SCORE: Storm["score"] = {
  ...{ duplicates: 0, silentLosses: 0, untrueWords: 0, falseDedupes: 0, wantedNotDone: 0 },
  ...{ leftUnknown: 0, extraSends: 6, arrivals: 66, effects: 60, answerMs: 5 },
};
const FAULTS = { commit_then_reset: 1, hang_up: 1, reset_before: 1, status: 1, black_hole: 1 };
const WEATHERED: Storm = {
  ...{ stack: "sqlite", score: SCORE, attemptsPerEffect: 1.1, answers: 120, faults: FAULTS },
  ...{ reads: 9, kills: 2, cutOff: 3, leftOpen: 1, wrong: [], seconds: 1 },
};

test("a storm that was weathered has no problem", () => {
  expect(problemsOf(WEATHERED, options)).toEqual([]);
});

test.for<[string, Partial<Storm>]>([
  ["1 duplicates", { score: { ...SCORE, duplicates: 1 } }],
  ["1 lost", { score: { ...SCORE, silentLosses: 1 } }],
  ["1 untrue words", { score: { ...SCORE, untrueWords: 1 } }],
  ["1 false dedupes", { score: { ...SCORE, falseDedupes: 1 } }],
  ["1 not done", { score: { ...SCORE, wantedNotDone: 1 } }],
  ["1 left unknown", { score: { ...SCORE, leftUnknown: 1 } }],
  ["59 effects of 60 intents", { score: { ...SCORE, effects: 59 } }],
  ["1.351 requests an effect, more than 1.35", { attemptsPerEffect: 1.351 }],
  ["only 1 kills of 2 processes: no storm", { kills: 1 }],
  ["no call was cut off by a kill: no storm", { cutOff: 0 }],
  ["nothing was left to the survivors: no storm", { leftOpen: 0 }],
  ["nothing was asked for twice: no storm", { answers: 60 }],
  ["no request met hang_up: no storm", { faults: { ...FAULTS, hang_up: 0 } }],
])("%s", ([problem, wrong]) => {
  expect(problemsOf({ ...WEATHERED, ...wrong }, options)).toEqual([problem]);
});
