import { describe, expect, test } from "vitest";
import { type Applied, apply } from "../../src/ledger/moves/apply.ts";
import type { Move } from "../../src/ledger/moves/moves.ts";
import type { AttemptNote, OperationRecord, Stored } from "../../src/ledger/record.ts";
import { claimOf, evidenceOf, recordOf } from "../../src/testing/record-of.ts";

const LEASE_ENDS = 1_000;

const stored = (overrides: Partial<OperationRecord> = {}): Stored => ({
  record: recordOf(overrides),
  version: 1,
  leaseUntil: LEASE_ENDS,
});

/** The record that was written; fails the test if none was. */
function written(applied: Applied): OperationRecord {
  if (applied.tag !== "write" || !applied.record) throw new Error(JSON.stringify(applied));
  return applied.record;
}

const MOVES = {
  claim: claimOf({ holder: "holder-2", at: 10 }),
  note: {
    move: "note",
    epoch: 1,
    holder: "holder-1",
    licence: "keyed",
    updates: [],
    leaseMs: 5,
    at: 10,
  },
  renew: { move: "renew", epoch: 1, holder: "holder-1", leaseMs: 5 },
  settle: {
    move: "settle",
    epoch: 1,
    holder: "holder-1",
    state: { tag: "committed", via: "reply", attempt: 1 },
    updates: [],
    at: 10,
  },
  resolve: { move: "resolve", as: "committed", by: "ana", at: 10 },
  meet: { move: "meet", told: "unknown", aliases: ["call_1"] },
} as const satisfies Partial<Record<Move["move"], Move>>;

describe("the owner", () => {
  test("notes an attempt before it is fired, with what the one before proved", () => {
    const updates = [{ n: 1, verdict: "refused", endedAt: 9, status: 429 }] as const;
    const applied = apply(stored(), { ...MOVES.note, updates, licence: "refused" }, 10);
    expect(applied).toMatchObject({ tag: "write", lease: 5 });
    const { attempts, fired } = written(applied);
    expect(attempts).toEqual([
      {
        n: 1,
        epoch: 1,
        generation: 0,
        licence: "first",
        at: 0,
        verdict: "refused",
        endedAt: 9,
        status: 429,
      },
      { n: 2, epoch: 1, generation: 0, licence: "refused", at: 10 },
    ]);
    expect(fired).toBe(2);
  });

  test("notes no attempt once the evidence of a commit was filed", () => {
    const found = stored({ evidence: [evidenceOf()] });
    expect(apply(found, MOVES.note, 10)).toEqual({ tag: "refused", why: "evidence" });
  });

  test("may note in spite of evidence that proves no commit", () => {
    const found = stored({ evidence: [evidenceOf({ verdict: "rejected" })] });
    expect(apply(found, MOVES.note, 10).tag).toBe("write");
  });

  test.each(["note", "renew", "settle"] as const)("cannot %s with an old epoch", (name) => {
    const applied = apply(stored({ epoch: 2 }), MOVES[name], 10);
    expect(applied).toEqual({ tag: "refused", why: "stale" });
  });

  test("settles, which ends the lease and wipes the intent", () => {
    const applied = apply(stored(), MOVES.settle, 10);
    expect(applied).toMatchObject({ tag: "write", lease: "none" });
    expect(written(applied)).toMatchObject({ state: MOVES.settle.state, stateAt: 10 });
    expect(written(applied).intent).toBeUndefined();
  });

  test("leaves the intent when it gives up without knowing, and what is known of its attempts", () => {
    const state = { tag: "unknown", reason: "deadline" } as const;
    const record = written(apply(stored(), { ...MOVES.settle, state }, 10));
    expect(record.intent).toEqual(recordOf().intent);
    expect(record.attempts).toEqual(recordOf().attempts);
  });

  test.each([
    { tag: "not_applied", reason: "absent" },
    { tag: "unknown", reason: "deadline" },
  ] as const)(
    "who settles as $tag against the evidence of a commit settles as committed",
    (state) => {
      const evidence = [evidenceOf({ effectId: "re_1", effect: "created" })];
      const record = written(apply(stored({ evidence }), { ...MOVES.settle, state }, 10));
      expect(record.state).toEqual({
        tag: "committed",
        via: "late",
        attempt: 1,
        effect: "created",
        effectId: "re_1",
      });
    },
  );
});

describe("a person who resolves", () => {
  const resolve = MOVES.resolve;
  const unknown = { tag: "unknown", reason: "lost_reply" } as const;

  test("settles an unknown operation as committed, by name", () => {
    const applied = apply(stored({ state: unknown }), { ...resolve, note: "seen" }, 10);
    const { state, epoch } = written(applied);
    expect(state).toEqual({ tag: "committed", via: "person", by: "ana", note: "seen" });
    expect(epoch).toBe(2);
  });

  test("clears every doubt by saying that nothing happened, so it may be fired again", () => {
    const applied = apply(stored({ state: unknown }), { ...resolve, as: "not_applied" }, 10);
    const record = written(applied);
    expect(record.state).toMatchObject({ tag: "not_applied", reason: "resolved", by: "ana" });
    expect(record.attempts.map(({ cleared }) => cleared)).toEqual(["person"]);
    const again = apply({ record, version: 2, leaseUntil: undefined }, MOVES.claim, 10);
    expect(written(again).attempts.at(-1)?.licence).toBe("person");
  });

  test("takes over from an owner whose lease is over, who can then settle no more", () => {
    const record = written(apply(stored(), resolve, LEASE_ENDS));
    expect(record.state.tag).toBe("committed");
    const late = apply({ record, version: 2, leaseUntil: undefined }, MOVES.settle, LEASE_ENDS);
    expect(late).toEqual({ tag: "refused", why: "stale" });
  });

  test("cannot deny a commit that somebody knows of", () => {
    const found = stored({ evidence: [evidenceOf()] });
    const applied = apply(found, { ...resolve, as: "not_applied" }, LEASE_ENDS);
    expect(applied).toEqual({ tag: "refused", why: "evidence" });
  });
});

describe("an operation that is met again", () => {
  test("keeps each name once, and its lease", () => {
    const move = { ...MOVES.meet, aliases: ["call_1", "call_1", "call_2"], run: "run-1" };
    const applied = apply(stored({ aliases: ["call_2"] }), move, 10);
    expect(applied).toMatchObject({ tag: "write", lease: "keep" });
    expect(written(applied)).toMatchObject({ aliases: ["call_2", "call_1"], runs: ["run-1"] });
  });

  test("is left alone when all names are known", () => {
    const found = stored({ aliases: ["call_1"], runs: ["run-1"] });
    expect(apply(found, { ...MOVES.meet, run: "run-1" }, 10)).toEqual({ tag: "same" });
  });
});

describe("an attempt that was given up and still runs", () => {
  const running = { move: "running", attempt: 1, endsBy: 600 } as const;
  const unknown = (attempt: Partial<AttemptNote>) => ({
    version: 1,
    leaseUntil: undefined,
    record: recordOf({
      state: { tag: "unknown", reason: "deadline" },
      attempts: [{ n: 1, epoch: 1, generation: 0, licence: "first", at: 1, ...attempt }],
    }),
  });

  test("ends no earlier than its process says", () => {
    expect(apply(unknown({ endsBy: 550 }), running, 500)).toMatchObject({
      tag: "write",
      lease: "keep",
      record: { attempts: [{ endsBy: 600 }] },
    });
  });

  test("is not brought back once it has ended", () => {
    expect(apply(unknown({ endedAt: 400 }), running, 500)).toEqual({ tag: "same" });
  });

  test("gets no more time once a read has proved it absent: another may have been fired on that", () => {
    const cleared = unknown({ endsBy: 400, cleared: "absent" });
    expect(apply(cleared, running, 500)).toEqual({ tag: "refused", why: "stale" });
  });
});

describe("a write that left after the end of its attempt", () => {
  const late = { move: "doubt", attempt: 1, why: "late_send", endsBy: 50, at: 20 } as const;
  const rejected: AttemptNote = {
    n: 1,
    epoch: 1,
    generation: 0,
    licence: "first",
    at: 0,
    endedAt: 9,
    verdict: "rejected",
  };
  const no = { tag: "not_applied", reason: "rejected" } as const;

  test("is in doubt after a claim that is withdrawn, too", () => {
    const before = { state: no, attempts: [rejected], fired: 1, epoch: 1 };
    const again = claimOf({ holder: "holder-2", at: 15, retry: true });
    const claimed = written(apply({ ...stored(before), leaseUntil: undefined }, again, 15));
    const doubted = written(apply(stored(claimed), late, 20));
    const withdrawn = apply(stored(doubted), { move: "withdraw", holder: "holder-2", at: 30 }, 30);
    expect(written(withdrawn)).toMatchObject({
      state: { tag: "unknown", reason: "late_send" },
      attempts: [{ verdict: "unknown", endedAt: 50 }],
    });
  });

  test("stays in doubt when an owner settles what it concluded from that end", () => {
    const doubted = written(
      apply(stored({ attempts: [{ ...rejected, verdict: undefined }] }), late, 20),
    );
    const settle = { ...MOVES.settle, state: no, updates: [rejected] };
    expect(apply(stored(doubted), settle, 30)).toEqual({ tag: "refused", why: "changed" });
    const yes = { ...MOVES.settle, updates: [{ ...rejected, verdict: "committed" as const }] };
    expect(written(apply(stored(doubted), yes, 30))).toMatchObject({ state: { tag: "committed" } });
  });
});

describe("what no caller was told", () => {
  const yes = { tag: "committed", via: "read" } as const;
  const done = stored({ state: yes, untold: true });

  test("is told only to a caller that is told this very state", () => {
    expect(written(apply(done, MOVES.meet, 10))).toMatchObject({ untold: true });
    const meet = { ...MOVES.meet, told: "committed" } as const;
    expect(written(apply(done, meet, 10)).untold).toBeUndefined();
  });

  test("is a commit that a withdrawal writes, too", () => {
    const before = { tag: "not_applied", reason: "rejected" } as const;
    const state = { tag: "claimed", holder: "holder-2", before } as const;
    const claimed = stored({ state, evidence: [evidenceOf()] });
    const withdrawn = apply(claimed, { move: "withdraw", holder: "holder-2", at: 30 }, 30);
    expect(written(withdrawn)).toMatchObject({ state: { tag: "committed" }, untold: true });
  });
});
