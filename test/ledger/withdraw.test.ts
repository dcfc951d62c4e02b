import { describe, expect, test } from "vitest";
import { apply } from "../../src/ledger/moves/apply.ts";
import type { Move } from "../../src/ledger/moves/moves.ts";
import type { OperationRecord, State, Stored } from "../../src/ledger/record.ts";
import type { Verdict } from "../../src/reasons.ts";
import { askOf, claimOf, evidenceOf, recordOf } from "../../src/testing/record-of.ts";

const withdraw: Move = { move: "withdraw", holder: "holder-1", at: 900 };
const GONE = { tag: "write", record: undefined, lease: "none" };

const storedAs = (record: OperationRecord): Stored => ({ record, version: 1, leaseUntil: 5_000 });

/** The record after these moves on a settled or open one. */
function after(record: OperationRecord, ...moves: readonly Move[]): OperationRecord {
  let next = record;
  for (const move of moves) {
    const applied = apply(storedAs(next), move, 500);
    if (applied.tag !== "write" || !applied.record) throw new Error(JSON.stringify(applied));
    next = applied.record;
  }
  return next;
}

const approved = askOf({
  answers: [{ approve: true, by: "ana", at: 1, counted: true }],
  shown: undefined,
});

describe("a withdrawn claim", () => {
  test("of a new operation leaves nothing", () => {
    expect(apply(storedAs(recordOf()), withdraw, 900)).toEqual(GONE);
  });

  test("is only withdrawn by the one who made it", () => {
    const other: Move = { ...withdraw, holder: "holder-2" };
    expect(apply(storedAs(recordOf()), other, 900)).toEqual({ tag: "refused", why: "not_open" });
  });

  test.each([
    { tag: "held", ask: approved },
    { tag: "not_applied", reason: "absent" },
    { tag: "not_applied", reason: "refused", keyRejected: true },
    { tag: "unknown", reason: "deadline" },
  ] satisfies State[])("leads back to where it was: $tag", (state) => {
    const intent = state.tag === "not_applied" ? undefined : recordOf().intent;
    const before = recordOf({ state, stateAt: 100, intent });
    const claim = claimOf({ at: 500, cooldownMs: 0, spend: "digest-1" });
    expect(after(before, claim, withdraw)).toEqual({ ...before, epoch: 2 });
  });

  test("that took over from a dead owner leaves the operation unknown", () => {
    const claim = claimOf({ holder: "holder-2", at: 500 });
    const found = { ...storedAs(recordOf()), leaseUntil: 400 };
    const taken = apply(found, claim, 500);
    if (taken.tag !== "write" || !taken.record) throw new Error("not taken over");
    const record = after(taken.record, { ...withdraw, holder: "holder-2" });
    expect(record.state).toEqual({ tag: "unknown", reason: "owner_lost" });
    expect(record.attempts).toEqual(recordOf().attempts);
  });

  test("does not use up the cooling down of what it leads back to", () => {
    const settled = recordOf({
      state: { tag: "not_applied", reason: "absent" },
      stateAt: 100,
      intent: undefined,
    });
    const claim = claimOf({ at: 500, cooldownMs: 300 });
    const left = after(settled, claim, withdraw);
    expect(apply(storedAs(left), claim, 500).tag).toBe("write");
  });

  test("does not use up a generation of the key", () => {
    const state: State = { tag: "not_applied", reason: "rejected", keyRejected: true };
    const retry = claimOf({ retry: true });
    const rejected = recordOf({ state, intent: undefined });
    expect(after(rejected, retry, withdraw, retry).generation).toBe(1);
  });

  test.each(["not_sent", "refused"] satisfies Verdict[])(
    "may follow an attempt that was %s",
    (verdict) => {
      const note: Move = {
        move: "note",
        epoch: 1,
        holder: "holder-1",
        licence: "not_sent",
        updates: [{ n: 1, verdict }],
        leaseMs: 5,
        at: 1,
      };
      expect(apply(storedAs(after(recordOf(), note)), withdraw, 900)).toEqual(GONE);
    },
  );

  test.each(["unknown", "committed", undefined] satisfies (Verdict | undefined)[])(
    "is refused once an earlier attempt may have been sent (%s)",
    (verdict) => {
      const updates = verdict ? [{ n: 1, verdict }] : [];
      const note: Move = {
        move: "note",
        epoch: 1,
        holder: "holder-1",
        licence: "keyed",
        updates,
        leaseMs: 5,
        at: 1,
      };
      const applied = apply(storedAs(after(recordOf(), note)), withdraw, 900);
      expect(applied).toEqual({ tag: "refused", why: "not_open" });
    },
  );

  test("settles as committed if a commit was filed meanwhile, and does not lead back", () => {
    const state: State = { tag: "not_applied", reason: "absent" };
    const settled = recordOf({ state, intent: undefined });
    const file: Move = { move: "file", evidence: evidenceOf(), dedupes: false, at: 600 };
    const claimed = after(settled, claimOf({ cooldownMs: 0 }), file);
    const applied = apply(storedAs(claimed), withdraw, 900);
    expect(applied).toMatchObject({
      tag: "write",
      record: { state: { tag: "committed", via: "late", attempt: 1 } },
      lease: "none",
      report: "corrected",
    });
  });
});
