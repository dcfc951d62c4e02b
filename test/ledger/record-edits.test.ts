import { describe, expect, test } from "vitest";
import { addAttempt, addNames, withUpdates } from "../../src/ledger/moves/record-edits.ts";
import type { Licence, OperationRecord, Verdict } from "../../src/ledger/record.ts";
import { recordOf } from "../../src/testing/record-of.ts";

const KEPT = 32;

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
});
