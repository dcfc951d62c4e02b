/** The laws of the simulated outage: seeded, nothing lost, one write to a lane at a time, and the budget kept. */
import { describe, expect, test } from "vitest";
import { HOLDFIRE_POLICY, POLICIES } from "../../bench/outage/policies.ts";
import { SCENARIO, type Scenario, type Simulated, simulate } from "../../bench/outage/simulate.ts";
import { summarize } from "../../bench/outage/summary.ts";
import { createTimeline } from "../../bench/outage/timeline.ts";
import { budgetOf } from "../../src/engine/define/settings.ts";

/** A fifth of the traffic, and an outage longer than a call waits for its lane. */
const SMALL: Scenario = {
  ...SCENARIO,
  seconds: 80,
  outage: { from: 10, to: 45 },
  processes: 4,
  callsPerSecond: 40,
  capacity: 80,
  hotShare: 0.1,
  reconcileEveryMs: 5_000,
};

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
const endedOf = ({ ends }: Simulated): number => sum(Object.values(ends));

describe.each(POLICIES)("$name", (policy) => {
  const run = simulate(SMALL, policy);

  test("the same seed gives the same run, another one another", () => {
    expect(simulate(SMALL, policy)).toEqual(run);
    expect(simulate({ ...SMALL, seed: 15 }, policy).seconds).not.toEqual(run.seconds);
  });

  test("every call ends in one way", () => {
    expect(run.calls).toBeGreaterThan(1_500);
    expect(endedOf(run)).toBe(run.calls);
    expect(run.ends.held).toBeGreaterThan(0);
    expect(Object.values(run.ends).every((count) => count >= 0)).toBe(true);
    expect(run.ends.committed).toBe(sum(run.answeredBy));
  });

  test("no two writes of one lane are under way at the same time", () => {
    expect(run.mostInLane).toBe(1);
    expect(Math.max(...run.seconds.map(({ hotWaiting }) => hotWaiting))).toBeGreaterThan(5);
  });

  test("nothing is answered while the provider is down", () => {
    // One request may have left just before.
    const down = run.seconds.slice(SMALL.outage.from + 2, SMALL.outage.to);
    expect(sum(down.map(({ answered }) => answered))).toBe(0);
    expect(sum(down.map(({ first }) => first))).toBeGreaterThan(0);
  });

  test("without an outage nothing is sent twice, and all is committed", () => {
    const calm = simulate({ ...SMALL, outage: { from: 0, to: 0 } }, policy);
    expect(sum(calm.resentBy)).toBe(0);
    expect(calm.ends.committed).toBe(calm.calls);
  });
});

describe("the retry budget", () => {
  const { tokens, perSecond, perSuccess } = budgetOf();

  test("of each process is never overdrawn", () => {
    const run = simulate(SMALL, HOLDFIRE_POLICY);
    const longest = SMALL.seconds + SMALL.deadlineMs / 1_000;
    for (const [process, resent] of run.resentBy.entries()) {
      const most = tokens + perSecond * longest + perSuccess * (run.answeredBy[process] ?? 0);
      expect(resent).toBeGreaterThan(tokens);
      expect(resent).toBeLessThanOrEqual(most);
    }
  });

  test("sends less at a provider that is down than no budget, and that less than a loop", () => {
    const [loop, plain, own] = POLICIES.map(
      (policy) => summarize(SMALL, simulate(SMALL, policy)).amplification,
    );
    expect(own).toBeLessThan(plain ?? 0);
    expect(plain).toBeLessThan(loop ?? 0);
  });
});

test("virtual time does what is due in order, also what was asked for at the same moment", () => {
  const timeline = createTimeline();
  const done: string[] = [];
  const note = (what: string) => () => void done.push(`${what} at ${timeline.now()}`);
  for (const ms of [30, 10, 20]) timeline.after(ms, note(`after ${ms}`));
  timeline.after(10, () => {
    done.push("second at 10");
    timeline.after(5, note("later"));
  });
  timeline.run();
  expect(done).toEqual([
    ...["after 10 at 10", "second at 10", "later at 15", "after 20 at 20", "after 30 at 30"],
  ]);
});
