/** Claims that must not fire though nothing in the record's state forbids it, and what a withdrawal gives back. */
import { describe, expect, test } from "vitest";
import { type Applied, apply } from "../../../src/ledger/moves/apply.ts";
import type { AttemptNote, OperationRecord, State, Stored } from "../../../src/ledger/record.ts";
import { askOf, claimOf, draftOf, evidenceOf, recordOf } from "../../../src/testing/record-of.ts";

const stored = (overrides: Partial<OperationRecord> = {}): Stored => ({
  record: recordOf(overrides),
  version: 1,
  leaseUntil: undefined,
});

function written(applied: Applied): OperationRecord {
  if (applied.tag !== "write" || !applied.record) throw new Error(JSON.stringify(applied));
  return applied.record;
}

const refused = (why: string) => ({ tag: "refused", why });
const declared = { keyed: true };
const lost = { n: 1, epoch: 0, generation: 0, licence: "first", at: 40 } as const;
const suspect = { since: 40, sendsForMs: 100, declared };
const absent: State = { tag: "not_applied", reason: "absent" };

describe("a claim in a store that has lost data", () => {
  test("of an operation without a record fires nothing: one attempt may have been made", () => {
    const record = written(apply(undefined, claimOf({ suspect, at: 50 }), 50));
    expect(record.state).toMatchObject({
      tag: "claimed",
      before: { tag: "unknown", reason: "store_lost" },
    });
    expect(record.attempts).toEqual([{ ...lost, declared, endsBy: 150 }]);
    expect(record).toMatchObject({ fired: 1, epoch: 1 });
  });

  test("of what was not applied by its record fires nothing either, and doubts it once", () => {
    const claim = claimOf({ suspect, at: 50, cooldownMs: 0 });
    const record = written(apply(stored({ state: absent }), claim, 50));
    expect(record.state).toMatchObject({ before: { tag: "unknown", reason: "store_lost" } });
    expect(record.attempts.map(({ n, epoch }) => [n, epoch])).toEqual([
      [1, 1],
      [2, 0],
    ]);
    const settledSince = { ...stored(), record: { ...record, state: absent, stateAt: 0 } };
    const again = written(apply(settledSince, claim, 50));
    expect(again.attempts.at(-1)).toMatchObject({ n: 3, licence: "absent" });
  });

  test("of what a person said yes to fires nothing either", () => {
    const answers = [{ approve: true, by: "ana", at: 5, counted: true }];
    const state: State = { tag: "held", ask: askOf({ answers, shown: undefined }) };
    const found = stored({ state, attempts: [], fired: 0 });
    const spend = claimOf({ spend: "digest-1", at: 50 });
    expect(written(apply(found, spend, 50)).attempts).toMatchObject([{ licence: "first" }]);
    const doubted = written(apply(found, { ...spend, suspect }, 50));
    expect(doubted.attempts).toEqual([{ ...lost, declared, endsBy: 150 }]);
  });

  test("by the owner who knows the lost record writes it anew, with its attempts as made before", () => {
    const { attempts, ...rest } = recordOf({ epoch: 4, generation: 1, fired: 1 });
    const known = { ...rest, attempts: attempts.map((one) => ({ ...one, endsBy: 90 })) };
    const claim = claimOf({ suspect: { known }, holder: "holder-2", at: 50 });
    const record = written(apply(undefined, claim, 50));
    expect(record).toMatchObject({ generation: 1, fired: 1, epoch: 5 });
    expect(record.state).toMatchObject({ before: { tag: "unknown", reason: "store_lost" } });
    // Of no epoch that a claim has, so that no withdrawal takes them for its own.
    expect(record.attempts).toEqual([{ ...attempts[0], epoch: 0, endsBy: 90 }]);
  });

  test("of what is known needs no doubt", () => {
    const claim = claimOf({ suspect });
    const committed: State = { tag: "committed", effect: "created", via: "reply" };
    expect(apply(stored({ state: committed }), claim, 0)).toEqual(refused("settled"));
  });
});

describe("a claim that needs a person's yes", () => {
  const claim = claimOf({ needsYes: true, cooldownMs: 0 });

  test.each<[string, Stored | undefined]>([
    ["a new operation", undefined],
    ["one that was not applied", stored({ state: absent })],
  ])("fires nothing without it: %s", (_, found) => {
    expect(apply(found, claim, 0)).toEqual(refused("held"));
    expect(apply(found, { ...claim, needsYes: false }, 0).tag).toBe("write");
  });

  test("is told that it is settled where nothing would be fired with a yes either", () => {
    const rejected: State = { tag: "not_applied", reason: "rejected" };
    expect(apply(stored({ state: rejected }), claim, 0)).toEqual(refused("settled"));
  });
});

describe("a claim of an operation that a person gave up for another", () => {
  test("fires nothing, though nothing happened as far as is known", () => {
    const found = stored({ state: absent, abandonedFor: "operation-2" });
    expect(apply(found, claimOf({ cooldownMs: 0 }), 0)).toEqual(refused("abandoned"));
  });

  test("may read what became of it", () => {
    const state: State = { tag: "unknown", reason: "abandoned" };
    const found = stored({ state, abandonedFor: "operation-2" });
    expect(written(apply(found, claimOf(), 0)).attempts).toEqual(recordOf().attempts);
  });
});

describe("a claim of what is unknown, by a tool that can neither read nor resend", () => {
  const unknown: State = { tag: "unknown", reason: "deadline" };
  const [first] = recordOf().attempts;
  const claim = claimOf({ powerless: true });
  const withNotes = (...notes: readonly Partial<AttemptNote>[]): Stored =>
    stored({
      state: unknown,
      attempts: notes.map((note, at) => ({ ...first, ...note, n: at + 1 }) as AttemptNote),
    });

  test.each<[string, Partial<AttemptNote>]>([
    ["made of guarded operations only", { innerOnly: true }],
    ["joined to a transaction", { declared: { enlisted: true } }],
  ])("runs again what was %s, if only one of its attempts was", (_, note) => {
    expect(apply(withNotes(note), claim, 0).tag).toBe("write");
    expect(apply(withNotes({}, note), claim, 0).tag).toBe("write");
  });

  test.each<[string, Partial<AttemptNote>]>([
    ["an ordinary attempt", {}],
    ["one that did more than guarded operations", { innerOnly: false }],
    ["one in no transaction", { declared: { enlisted: false } }],
  ])("is refused after %s", (_, note) => {
    expect(apply(withNotes(note), claim, 0)).toEqual(refused("powerless"));
  });
});

describe("a claim of what was not sent", () => {
  test.each([
    ["its tool says so", { proven: true }],
    ["all that it does is done by operations inside it", { innerOnly: true }],
    ["it commits with its record", { declared: { enlisted: true } }],
  ])("needs no word of the caller where %s", (_, facts) => {
    const state: State = { tag: "not_applied", reason: "not_sent" };
    const attempts = recordOf().attempts.map((one) => ({ ...one, ...facts }));
    expect(apply(stored({ state, attempts }), claimOf(), 1e9).tag).toBe("write");
    expect(apply(stored({ state }), claimOf(), 1e9)).toEqual(refused("settled"));
  });
});

describe("whoever takes over from a dead owner", () => {
  test("knows that no caller was told", () => {
    const found = { ...stored(), leaseUntil: 10 };
    const record = written(apply(found, claimOf({ holder: "holder-2", at: 10 }), 10));
    expect(record.untold).toBe(true);
  });
});

describe("the runs of an operation", () => {
  test("are added to by each claim that has one", () => {
    const unknown: State = { tag: "unknown", reason: "deadline" };
    const found = stored({ state: unknown, runs: ["run-1"] });
    const claimed = (run: string | undefined) =>
      written(apply(found, claimOf({ draft: draftOf({ run }) }), 0)).runs;
    expect(claimed("run-2")).toEqual(["run-1", "run-2"]);
    expect(claimed(undefined)).toEqual(["run-1"]);
  });
});

describe("a withdrawal", () => {
  const withdraw = { move: "withdraw", holder: "holder-1", at: 900 } as const;

  test("of a claim without attempts of its own is a commit, if one was filed", () => {
    const state: State = { tag: "claimed", holder: "holder-1", before: absent, beforeAt: 100 };
    const found = stored({ state, epoch: 2, evidence: [evidenceOf()] });
    const applied = apply(found, withdraw, 900);
    expect(applied).toMatchObject({ report: "corrected", record: { untold: true } });
    expect(written(applied).state.tag).toBe("committed");
  });

  test("of a question gives back the yes that it spent, and keeps the answers to other questions", () => {
    const yes = { approve: true, by: "ana", at: 5, counted: true } as const;
    const others = [
      { approve: true, by: "ana", at: 4, counted: false },
      { approve: false, by: "bo", at: 5, counted: false },
    ] as const;
    const before: State = { tag: "held", ask: askOf({ answers: [yes], shown: undefined }) };
    const state: State = { tag: "claimed", holder: "holder-1", before, beforeAt: 100 };
    const back = (answers: OperationRecord["answers"]) =>
      written(apply(stored({ state, answers }), withdraw, 900)).answers;
    expect(back([...others, yes])).toEqual(others);
    expect(back([yes])).toBeUndefined();
    expect(back(undefined)).toBeUndefined();
  });

  test("gives back each yes that the question needed", () => {
    const answers = ["ana", "bo"].map((by) => ({ approve: true, by, at: 5, counted: true }));
    const before: State = { tag: "held", ask: askOf({ answers, shown: undefined }) };
    const state: State = { tag: "claimed", holder: "holder-1", before, beforeAt: 100 };
    const found = stored({ state, answers });
    expect(written(apply(found, withdraw, 900)).answers).toBeUndefined();
  });

  test("of a question about a rejected key gives back the generation, too", () => {
    const rejected: State = { tag: "not_applied", reason: "rejected", keyRejected: true };
    const answers = [{ approve: true, by: "ana", at: 5, counted: true }];
    const ask = askOf({ answers, shown: undefined });
    const found = stored({ state: { tag: "held", ask, before: rejected } });
    const record = written(apply(found, claimOf({ spend: "digest-1" }), 0));
    expect(record.generation).toBe(1);
    expect(written(apply({ ...found, record }, withdraw, 900)).generation).toBe(0);
  });

  test.each(["unknown", "committed", "rejected"] as const)(
    "is refused after an attempt that ended %s: it may have done something, or was answered",
    (verdict) => {
      const attempts = recordOf().attempts.map((one) => ({ ...one, verdict }));
      expect(apply(stored({ attempts }), withdraw, 900)).toEqual(refused("not_open"));
    },
  );
});
