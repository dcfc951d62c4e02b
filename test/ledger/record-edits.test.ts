import { describe, expect, test } from "vitest";
import {
  addAttempt,
  endLater,
  fenceEnlisted,
  isAsKnown,
  withUpdates,
} from "../../src/ledger/moves/attempt-edits.ts";
import { addNames, enter, newRecord, redraft } from "../../src/ledger/moves/record-edits.ts";
import type { AttemptNote, OperationRecord } from "../../src/ledger/record.ts";
import type { Licence, Verdict } from "../../src/reasons.ts";
import { draftOf, recordOf } from "../../src/testing/record-of.ts";

const KEPT = 32;

const firstOf = (): AttemptNote => ({ n: 1, epoch: 1, generation: 0, licence: "first", at: 0 });

const noted = (
  record: OperationRecord,
  licence: Licence,
  attempt: Parameters<typeof addAttempt>[3],
): OperationRecord => ({ ...record, ...addAttempt(record, record.epoch, licence, attempt) });

/** A record fired so often, with a verdict for each. */
function fired(verdicts: readonly Verdict[]): OperationRecord {
  let record = recordOf({ attempts: [], fired: 0 });
  for (const [index, verdict] of verdicts.entries()) {
    record = withUpdates(noted(record, "not_sent", { at: index }), [{ n: index + 1, verdict }]);
  }
  return record;
}

describe("the attempts of a record", () => {
  test("are numbered on, also when the oldest are forgotten", () => {
    const record = fired(Array.from({ length: 100 }, () => "not_sent"));
    expect(record.fired).toBe(100);
    expect(record.attempts).toHaveLength(KEPT);
    expect(record.attempts.map(({ n }) => n)).toEqual(
      Array.from({ length: KEPT }, (_, i) => i + 69),
    );
  });

  test("are forgotten when they prove that nothing happened, never when in doubt", () => {
    const verdicts = Array.from(
      { length: 60 },
      (_, i): Verdict => (i % 5 === 0 ? "unknown" : "refused"),
    );
    const { attempts } = fired(verdicts);
    expect(attempts).toHaveLength(KEPT);
    expect(attempts.filter(({ verdict }) => verdict === "unknown")).toHaveLength(12);
  });

  test("are never forgotten when all are in doubt: the oldest become one doubt", () => {
    const record = fired(Array.from({ length: 50 }, () => "unknown"));
    expect(record.fired).toBe(50);
    expect(record.attempts).toHaveLength(KEPT);
    // It was first sent when the first was, and has not ended as long as one of them has not.
    expect(record.attempts[0]).toMatchObject({ n: 19, at: 0, verdict: "unknown" });
    expect(record.attempts[0]?.endsBy ?? record.attempts[0]?.endedAt).toBeUndefined();
  });

  test("that become one doubt keep no promise that was made for one of them alone", () => {
    const keyed = { declared: { keyed: true }, tookKey: true };
    const first = noted(recordOf({ attempts: [], fired: 0 }), "first", { at: 0, ...keyed });
    let record = withUpdates(first, [{ n: 1, verdict: "unknown", tookKey: true }]);
    for (let at = 1; at <= KEPT; at += 1) record = noted(record, "absent", { at });
    expect(record.attempts[0]).toMatchObject({ n: 2, at: 0 });
    expect(record.attempts[0]?.declared?.keyed).toBeUndefined();
  });

  test("that become one doubt, and all sent their key, are still known by it", () => {
    let record = recordOf({ attempts: [], fired: 0 });
    for (let at = 0; at <= KEPT; at += 1) {
      record = noted(record, "keyed", { at, declared: { keyed: true } });
      record = withUpdates(record, [{ n: at + 1, verdict: "unknown", tookKey: at !== 0 }]);
    }
    expect(record.attempts[0]).toMatchObject({ n: 2, declared: { keyed: true }, tookKey: false });
  });

  test("end by what is learned of them, others stay", () => {
    const record = withUpdates(fired(["not_sent", "unknown"]), [{ n: 2, cleared: "absent" }]);
    expect(record.attempts.map(({ cleared }) => cleared)).toEqual([undefined, "absent"]);
    expect(record.attempts[1]?.verdict).toBe("unknown");
  });

  test("say until when they may send, and only the latest such time; once they have ended, nothing", () => {
    const first = noted(recordOf({ attempts: [], fired: 0 }), "first", { at: 1, endsBy: 20 });
    const longer = withUpdates(first, [{ n: 1, endsBy: 30 }]);
    expect(withUpdates(longer, [{ n: 1, endsBy: 10 }]).attempts).toMatchObject([{ endsBy: 30 }]);
    const ended = withUpdates(longer, [{ n: 1, endedAt: 25 }]);
    expect(ended.attempts).toMatchObject([{ endedAt: 25, endsBy: undefined }]);
  });
});

describe("a decision that rests on a read which found nothing", () => {
  type Facts = Partial<AttemptNote>;
  const read = (attempt: Facts, update: Facts): boolean => {
    const attempts = [
      { ...firstOf(), ...attempt },
      { ...firstOf(), n: 2, verdict: "committed" },
    ] as const;
    return isAsKnown(recordOf({ attempts }), [{ n: 1, cleared: "absent", ...update }]);
  };

  test("does not hold for an attempt that was said yes to meanwhile", () => {
    expect(read({}, {})).toBe(true);
    expect(read({ verdict: "committed" }, {})).toBe(false);
    for (const fact of ["unverified", "accepted"] as const) {
      expect(read({ [fact]: true }, {})).toBe(false);
      expect(read({ [fact]: true }, { [fact]: true })).toBe(true);
    }
  });

  test("does not hold for an attempt that may send for longer than was known", () => {
    expect(read({ endsBy: 100 }, { endsBy: 100 })).toBe(true);
    expect(read({ endsBy: 101 }, { endsBy: 100 })).toBe(false);
    expect(read({ endsBy: 1 }, {})).toBe(false);
    expect(read({ endedAt: 101, endsBy: 50 }, { endsBy: 100 })).toBe(false);
    expect(read({ endedAt: 100, endsBy: 200 }, { endsBy: 100 })).toBe(true);
  });

  test("holds for an attempt that was seen to end, unless it ended later than that", () => {
    const yes = { unverified: true };
    expect(read({ ...yes, endsBy: 900 }, { ...yes, endedAt: 60 })).toBe(true);
    expect(read({ ...yes, endedAt: 60 }, { ...yes, endedAt: 60 })).toBe(true);
    expect(read({ ...yes, endedAt: 61 }, { ...yes, endedAt: 60 })).toBe(false);
  });

  test("holds for what was cleared already, and for an attempt that is gone", () => {
    expect(read({ verdict: "committed", cleared: "person" }, {})).toBe(true);
    expect(read({ verdict: "committed" }, { n: 9 })).toBe(true);
  });

  test("is no other: what an answer proved does not depend on it", () => {
    expect(read({ verdict: "committed" }, { cleared: undefined, verdict: "refused" })).toBe(true);
  });
});

test("an attempt that sent after its end has ended at the later of both times", () => {
  const ended = { ...firstOf(), endedAt: 90, cleared: "absent", verdict: "refused" } as const;
  expect(endLater(ended, 50)).toEqual({
    ...ended,
    endedAt: 90,
    cleared: undefined,
    verdict: "unknown",
  });
  expect(endLater(ended, 95).endedAt).toBe(95);
  expect(endLater(firstOf(), 50).endedAt).toBe(50);
});

describe("an effect that was to commit in one transaction with its record", () => {
  test("cannot commit under the next owner: it was not sent", () => {
    const plain = { ...firstOf(), verdict: "unknown" } as const;
    const enlisted = { ...plain, n: 2, declared: { enlisted: true } };
    const record = recordOf({ attempts: [plain, enlisted], fired: 2 });
    expect(fenceEnlisted(record)).toEqual({
      ...record,
      attempts: [plain, { ...enlisted, verdict: "not_sent" }],
    });
    expect(fenceEnlisted(recordOf({ attempts: [plain] })).attempts).toEqual([plain]);
  });
});

describe("the names of a record", () => {
  test("are the same list when nothing is new", () => {
    const known = ["a", "b"];
    expect(addNames(known, ["b", "a"])).toBe(known);
  });

  test("are kept once each, the latest of them", () => {
    expect(addNames(["a"], ["b", "b", "a"])).toEqual(["a", "b"]);
    const many = Array.from({ length: 40 }, (_, index) => `${index}`);
    expect(addNames(["a"], many)).toEqual(many.slice(-16));
  });

  test("of its runs begin with the one that made it, and each call with a run adds its own", () => {
    const made = enter(newRecord(draftOf({ run: "run-1" }), 0), { tag: "claimed", holder: "p" }, 0);
    expect(made.runs).toEqual(["run-1"]);
    expect(redraft(made, draftOf({ run: "run-2" })).runs).toEqual(["run-1", "run-2"]);
    expect(redraft(made, draftOf()).runs).toEqual(["run-1"]);
    expect(newRecord(draftOf(), 0).runs).toEqual([]);
  });
});
