/** What is kept of late answers, and what a settle makes of them. */
import { describe, expect, test } from "vitest";
import { apply } from "../../../src/ledger/moves/apply.ts";
import { LOST_EPOCH } from "../../../src/ledger/moves/lost-data.ts";
import type { Evidence, OperationRecord, Stored } from "../../../src/ledger/record.ts";
import { evidenceOf } from "../../../src/testing/record-of.ts";
import { first, LEASE_ENDS, no, type Settled, stored, unknown, written } from "./stored.ts";

const file = (found: Stored, evidence: Evidence, now = 50) =>
  apply(found, { move: "file", evidence, dedupes: false, at: now }, now);

const committed = { tag: "committed", via: "reply", attempt: 2 } as const;

const settleAs = (state: Settled) =>
  ({ move: "settle", epoch: 1, holder: "holder-1", state, updates: [], at: 60 }) as const;

describe("late evidence", () => {
  const unclear = evidenceOf({ verdict: "unknown", at: 40 });
  const evidenceOn = (found: Stored, evidence: Evidence) => written(file(found, evidence)).evidence;

  test("that is sent again because the store's reply was lost is filed once", () => {
    const found = stored({ state: unknown, evidence: [unclear] });
    expect(file(found, { ...unclear })).toEqual({ tag: "same" });
    const done = stored({ state: committed, evidence: [evidenceOf()] });
    expect(file(done, evidenceOf())).toEqual({ tag: "same" });
  });

  test("that differs in its attempt, epoch, time or verdict is other evidence", () => {
    // Of any epoch may be the note of an attempt that was lost and restored.
    const restored = { ...first, epoch: LOST_EPOCH };
    const found = stored({ state: unknown, attempts: [restored], evidence: [unclear] });
    for (const other of [
      { attempt: 2 },
      { epoch: 2 },
      { at: 41 },
      { verdict: "refused" },
    ] as const) {
      const evidence = { ...unclear, ...other };
      expect(evidenceOn(found, evidence)).toEqual([unclear, evidence]);
    }
  });

  test("of a commit that was left to the owner corrects the record once the owner is gone", () => {
    const found = stored({ evidence: [evidenceOf()] });
    expect(file(found, evidenceOf(), LEASE_ENDS - 1)).toEqual({ tag: "same" });
    const applied = file(found, evidenceOf(), LEASE_ENDS);
    expect(applied).toMatchObject({ report: "corrected" });
    expect(written(applied)).toMatchObject({ state: { tag: "committed", via: "late" } });
    expect(written(applied).evidence).toHaveLength(1);
  });

  test("of a commit makes a state that no caller was told of, from the answer that proves it", () => {
    const found = stored({ state: unknown, evidence: [{ ...unclear, effectId: "unclear" }] });
    const record = written(file(found, evidenceOf({ effectId: "re_1" })));
    expect(record).toMatchObject({ untold: true, state: { effectId: "re_1" } });
  });

  test("is kept up to sixteen answers", () => {
    const evidence = Array.from({ length: 15 }, (_, at) => ({ ...unclear, at }));
    const full = evidenceOn(stored({ state: unknown, evidence }), unclear);
    expect(full.map(({ at }) => at)).toEqual([...evidence.map(({ at }) => at), 40]);
    const more = evidenceOn(stored({ state: unknown, evidence: full }), { ...unclear, at: 41 });
    expect(more.map(({ at }) => at)).toEqual([...full.slice(1).map(({ at }) => at), 41]);
  });
});

describe("a settle", () => {
  const reportOf = (state: Settled, record: Partial<OperationRecord>) => {
    const applied = apply(stored(record), settleAs(state), 60);
    if (applied.tag !== "write") throw new Error(applied.tag);
    return applied.report;
  };
  const unclear = evidenceOf({ verdict: "unknown" });

  test("reports no second effect where none was filed", () => {
    expect(reportOf(committed, {})).toBeUndefined();
    expect(reportOf(committed, { evidence: [unclear] })).toBeUndefined();
    for (const state of [unknown, no]) {
      expect(reportOf(state, {})).toBeUndefined();
      expect(reportOf(state, { evidence: [unclear] })).toBeUndefined();
    }
  });

  test("takes two yeses for one effect where it is not said that the service makes two of them", () => {
    expect(reportOf(committed, { evidence: [evidenceOf()] })).toBeUndefined();
  });

  test("reports a second effect also among answers that prove nothing", () => {
    const evidence = [unclear, evidenceOf({ effectId: "re_1" }), { ...unclear, at: 1 }];
    expect(reportOf({ ...committed, effectId: "re_2" }, { evidence })).toBe("duplicate");
  });
});
