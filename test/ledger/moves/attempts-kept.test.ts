/** What is kept of many attempts: two that are in doubt become one, which promises no more than both did. */
import { describe, expect, test } from "vitest";
import { addAttempt, withUpdates } from "../../../src/ledger/moves/attempt-edits.ts";
import type { AttemptNote } from "../../../src/ledger/record.ts";
import { recordOf } from "../../../src/testing/record-of.ts";
import { first as note } from "./stored.ts";

const KEPT = 32;
type Facts = Partial<AttemptNote>;

/** The attempts after one more was noted than are kept. All are in doubt, except for what is said of the first two. */
function kept(first: Facts, second: Facts): readonly AttemptNote[] {
  const attempts = Array.from({ length: KEPT }, (_, index): AttemptNote => {
    const facts = index === 0 ? first : index === 1 ? second : {};
    return { ...note, n: index + 1, at: index, ...facts };
  });
  const record = recordOf({ attempts, fired: KEPT });
  return addAttempt(record, 2, "keyed", { at: 99 }).attempts;
}

/** What the first two became. */
function oneOf(first: Facts, second: Facts): AttemptNote {
  const [one, ...others] = kept(first, second);
  expect(others.map(({ n }) => n)).toEqual(Array.from({ length: KEPT - 1 }, (_, i) => i + 3));
  if (!one) throw new Error("no attempts");
  return one;
}

test("the oldest attempt that did nothing is dropped, also if it is the very first", () => {
  const numbers = (facts: [Facts, Facts]) => kept(...facts).map(({ n }) => n);
  const all = Array.from({ length: KEPT + 1 }, (_, index) => index + 1);
  expect(numbers([{ verdict: "refused" }, { verdict: "refused" }])).toEqual(all.slice(1));
  expect(kept({ verdict: "refused" }, {})[0]).toEqual({ ...note, n: 2, at: 1 });
  expect(numbers([{}, { verdict: "refused" }])).toEqual(all.filter((n) => n !== 2));
});

test("attempts with different keys are never made one", () => {
  expect(kept({ generation: 0 }, { generation: 1 })).toHaveLength(KEPT + 1);
});

describe("two attempts that became one", () => {
  test("were first sent when the first was, by the clock of its host", () => {
    expect(oneOf({ at: 3, skew: 7 }, { skew: 900 })).toMatchObject({ n: 2, at: 3, skew: 7 });
  });

  test("end when the later of them does, and never if one has no end", () => {
    const endOf = (first: Facts, second: Facts) => oneOf(first, second).endsBy;
    expect(endOf({ endsBy: 100 }, { endsBy: 50 })).toBe(100);
    expect(endOf({ endsBy: 50 }, { endedAt: 60 })).toBe(60);
    expect(endOf({ endedAt: 60 }, { endsBy: 50 })).toBe(60);
    expect(endOf({}, { endsBy: 50 })).toBeUndefined();
    expect(oneOf({ endedAt: 60 }, { endedAt: 70 }).endedAt).toBeUndefined();
  });

  test.each(["keyed", "conditional", "enlisted"] as const)("are %s if both were", (power) => {
    const with_ = { declared: { [power]: true } };
    expect(oneOf(with_, with_).declared?.[power]).toBe(true);
    expect(oneOf(with_, {}).declared?.[power]).toBeUndefined();
    expect(oneOf({}, with_).declared?.[power]).toBeUndefined();
  });

  test.each(["tookKey", "tookPrecondition"] as const)(
    "have no %s if one of them had none",
    (took) => {
      const whether = (first: boolean, second: boolean) =>
        oneOf({ [took]: first }, { [took]: second })[took];
      expect(whether(true, true)).toBe(true);
      expect(whether(false, true)).toBe(false);
      expect(whether(true, false)).toBe(false);
    },
  );

  test.each(["unvetoable", "unverified", "accepted"] as const)("are %s if one was", (fact) => {
    expect(oneOf({ [fact]: true }, { [fact]: undefined })[fact]).toBe(true);
    expect(oneOf({ [fact]: undefined }, { [fact]: true })[fact]).toBe(true);
    expect(oneOf({}, {})[fact]).toBeUndefined();
  });

  test("can run again as operations inside only if both were nothing else", () => {
    const innerOnly = (first?: boolean, second?: boolean) =>
      oneOf({ innerOnly: first }, { innerOnly: second }).innerOnly;
    expect(innerOnly(true, true)).toBe(true);
    expect(innerOnly(undefined, true)).toBeUndefined();
    expect(innerOnly(true, undefined)).toBeUndefined();
    expect(innerOnly(false, true)).toBe(false);
    expect(innerOnly(true, false)).toBe(false);
    expect(innerOnly(undefined, false)).toBe(false);
  });

  test("made the requests of both, and nobody knows how many if one was not counted", () => {
    const requests = (first?: number, second?: number) =>
      oneOf({ wireRequests: first }, { wireRequests: second }).wireRequests;
    expect(requests(2, 3)).toBe(5);
    expect(requests(0, 0)).toBe(0);
    expect(requests(undefined, 0)).toBeUndefined();
    expect(requests(2, undefined)).toBeUndefined();
  });
});

describe("what is learned of an attempt", () => {
  const after = (facts: Facts, update: Facts) => {
    const record = recordOf({ attempts: [{ ...note, ...facts }] });
    return withUpdates(record, [{ ...update, n: 1 }]).attempts[0];
  };

  test("does not take back what was proved, and proves what was in doubt", () => {
    expect(after({ verdict: "committed" }, { verdict: "unknown" })?.verdict).toBe("committed");
    expect(after({ verdict: "refused" }, { verdict: "unknown" })?.verdict).toBe("refused");
    expect(after({ verdict: "unknown" }, { verdict: "refused" })?.verdict).toBe("refused");
    expect(after({ verdict: "unknown" }, {})?.verdict).toBe("unknown");
    expect(after({}, { verdict: "refused" })?.verdict).toBe("refused");
  });

  test("does not take back a yes that was not confirmed", () => {
    for (const fact of ["unverified", "accepted"] as const) {
      expect(after({ [fact]: true }, { [fact]: undefined })?.[fact]).toBe(true);
      expect(after({ [fact]: undefined }, { [fact]: true })?.[fact]).toBe(true);
    }
  });

  test("is void if it concludes that nothing happened from an end that was not the last", () => {
    const doubted = { verdict: "unknown", endedAt: 50 } as const;
    const early = after(doubted, { verdict: "not_sent", endedAt: 40, status: 503 });
    expect(early).toEqual({ ...note, ...doubted });
    expect(after(doubted, { verdict: "not_sent", endedAt: 50 })?.verdict).toBe("not_sent");
    expect(after(doubted, { verdict: "unknown", endedAt: 40, status: 503 })?.status).toBe(503);
  });

  test("can be that it was never fired: then it is not counted either", () => {
    const attempts = [note, { ...note, n: 2 }];
    const record = recordOf({ attempts, fired: 2 });
    const without = withUpdates(record, [{ n: 2, neverFired: true }]);
    expect([without.attempts, without.fired]).toEqual([[note], 1]);
  });
});
