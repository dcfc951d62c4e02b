import { describe, expect, test } from "vitest";
import { type Applied, apply } from "../../src/ledger/moves/apply.ts";
import type { Move } from "../../src/ledger/moves/moves.ts";
import type { OperationRecord, State, Stored } from "../../src/ledger/record.ts";
import type { NotAppliedReason } from "../../src/reasons.ts";
import { askOf, claimOf, draftOf, evidenceOf, recordOf } from "../../src/testing/record-of.ts";

const LEASE_ENDS = 1_000;
const COOLDOWN_MS = 30_000;

const stored = (overrides: Partial<OperationRecord> = {}, leaseUntil?: number): Stored => ({
  record: recordOf(overrides),
  version: 1,
  leaseUntil,
});

function written(applied: Applied): OperationRecord {
  if (applied.tag !== "write" || !applied.record) throw new Error(JSON.stringify(applied));
  return applied.record;
}

const refused = (why: string) => ({ tag: "refused", why });

describe("a first claim", () => {
  test("writes the whole record and the note of its first attempt, under a lease", () => {
    const draft = draftOf({ run: "run-1" }, { aliases: ["call_1"] });
    const applied = apply(undefined, claimOf({ draft, at: 7 }), 7);
    expect(applied).toMatchObject({ tag: "write", lease: 60_000 });
    expect(written(applied)).toEqual({
      ...recordOf({ run: "run-1", aliases: ["call_1"], runs: ["run-1"] }),
      stateAt: 7,
      createdAt: 7,
      attempts: [{ n: 1, epoch: 1, generation: 0, licence: "first", at: 7 }],
    });
  });

  test("of the same key for another intent is a conflict", () => {
    const draft = draftOf({ fingerprint: "fingerprint-2" });
    expect(apply(stored(), claimOf({ draft }), 0)).toEqual(refused("conflict"));
    const hold = { move: "hold", draft, ask: askOf(), at: 0 } as const;
    expect(apply(stored(), hold, 0)).toEqual(refused("conflict"));
  });
});

describe("a claim of somebody's operation", () => {
  const other = claimOf({ holder: "holder-2", at: LEASE_ENDS });

  test("is refused while the lease runs, to its last millisecond", () => {
    expect(apply(stored({}, LEASE_ENDS), other, LEASE_ENDS - 1)).toEqual(refused("busy"));
  });

  test("takes over when the lease is over, and fires nothing", () => {
    const record = written(apply(stored({}, LEASE_ENDS), other, LEASE_ENDS));
    expect(record.attempts).toEqual(recordOf().attempts);
    expect(record.state).toEqual({
      tag: "claimed",
      holder: "holder-2",
      before: { tag: "unknown", reason: "owner_lost" },
      beforeAt: 0,
    });
    expect(record).toMatchObject({ epoch: 2, fired: 1 });
  });

  test("by the same holder is the same claim, whose reply was lost", () => {
    expect(apply(stored({}, LEASE_ENDS), claimOf(), 5)).toEqual({ tag: "same" });
  });

  test("that is unknown takes it in order to read, with the first arguments", () => {
    const state: State = { tag: "unknown", reason: "deadline" };
    const draft = draftOf({}, { argsHash: "arguments-2" });
    const record = written(apply(stored({ state }), claimOf({ draft, holder: "holder-2" }), 0));
    expect(record.state).toMatchObject({ tag: "claimed", before: state });
    expect(record).toMatchObject({ fired: 1, argsHash: "arguments-1", epoch: 2 });
  });

  test("that is unknown is refused to a tool that could not help it", () => {
    const state: State = { tag: "unknown", reason: "deadline" };
    expect(apply(stored({ state }), claimOf({ powerless: true }), 0)).toEqual(refused("powerless"));
  });
});

describe("a claim of what was not applied", () => {
  const attempts = (proven?: true) => recordOf().attempts.map((one) => ({ ...one, proven }));

  const notApplied = (reason: NotAppliedReason, keyRejected?: boolean): Stored =>
    stored({
      state: { tag: "not_applied", reason, keyRejected },
      attempts: attempts(true),
      intent: undefined,
    });

  test.each([
    ["not_sent", "not_sent"],
    ["aborted", "not_sent"],
    ["expired", "not_sent"],
    ["refused", "refused"],
    ["absent", "absent"],
  ] as const)("%s is replayed while it cools down, then fired under %s", (reason, licence) => {
    const claim = claimOf({ cooldownMs: COOLDOWN_MS });
    expect(apply(notApplied(reason), claim, COOLDOWN_MS - 1)).toEqual(refused("settled"));
    const record = written(apply(notApplied(reason), claim, COOLDOWN_MS));
    expect(record.attempts.at(-1)).toMatchObject({ n: 2, epoch: 2, licence });
    expect(record.intent).toEqual(draftOf().intent);
  });

  test("because it was not sent, as far as it was seen, needs the caller's word", () => {
    const state: State = { tag: "not_applied", reason: "not_sent" };
    const unproven = stored({ state, attempts: attempts() });
    expect(apply(unproven, claimOf(), 1e9)).toEqual(refused("settled"));
    const record = written(apply(unproven, claimOf({ retry: true }), 0));
    expect(record.attempts.at(-1)?.licence).toBe("not_sent");
  });

  test("because it was rejected needs the caller's word", () => {
    expect(apply(notApplied("rejected"), claimOf(), 1e9)).toEqual(refused("settled"));
    const record = written(apply(notApplied("rejected"), claimOf({ retry: true }), 0));
    expect(record.attempts.at(-1)?.licence).toBe("refused");
  });

  test("by a person's word needs no cooling down", () => {
    const record = written(apply(notApplied("resolved"), claimOf(), 0));
    expect(record.attempts.at(-1)?.licence).toBe("person");
  });

  test("takes the arguments of this call", () => {
    const draft = draftOf({}, { argsHash: "arguments-2" });
    const record = written(apply(notApplied("resolved"), claimOf({ draft }), 0));
    expect(record.argsHash).toBe("arguments-2");
  });

  test("takes the next generation of the key only if the service rejected this one", () => {
    const retry = claimOf({ retry: true });
    const kept = written(apply(notApplied("rejected"), retry, 0));
    expect(kept.generation).toBe(0);
    const moved = written(apply(notApplied("rejected", true), retry, 0));
    expect(moved.generation).toBe(1);
    expect(moved.attempts.at(-1)?.generation).toBe(1);
  });

  test("is refused if somebody knows of a commit all the same", () => {
    const { record } = notApplied("resolved");
    const found = { record: { ...record, evidence: [evidenceOf()] }, version: 1, leaseUntil: 0 };
    expect(apply(found, claimOf(), 0)).toEqual(refused("evidence"));
  });
});

describe("a question to a person", () => {
  const EXPIRES = 500;
  const ask = askOf({ expiresAt: EXPIRES });
  const hold = { move: "hold", draft: draftOf(), ask, at: 0 } as const;
  const yes = { move: "answer", digest: "digest-1", approve: true, by: "ana", at: 1 } as const;
  const no = { ...yes, approve: false, by: "bo", note: "not now" } as const;
  const spend = claimOf({ spend: "digest-1" });

  const after = (...moves: readonly Move[]): Stored => {
    let found: Stored | undefined;
    for (const move of moves) {
      found = { record: written(apply(found, move, 2)), version: 1, leaseUntil: undefined };
    }
    if (!found) throw new Error("no moves");
    return found;
  };

  test("is held without a lease and without an attempt", () => {
    const applied = apply(undefined, hold, 0);
    expect(applied).toMatchObject({ tag: "write", lease: "none" });
    expect(written(applied)).toMatchObject({ state: { tag: "held", ask }, fired: 0, epoch: 0 });
  });

  test("is not asked twice while it is open, also once it is answered", () => {
    expect(apply(after(hold), hold, 2)).toEqual({ tag: "same" });
    expect(apply(after(hold, yes), hold, 2)).toEqual({ tag: "same" });
  });

  test("is asked anew when it has expired or when it is another", () => {
    expect(apply(after(hold), hold, EXPIRES).tag).toBe("write");
    const other = { ...hold, ask: askOf({ digest: "digest-2" }) };
    const record = written(apply(after(hold, yes), other, 2));
    expect(record.state).toMatchObject({ ask: { digest: "digest-2", answers: [] } });
  });

  test("lets nothing be fired before the yes", () => {
    expect(apply(after(hold), spend, 2)).toEqual(refused("held"));
  });

  test("answered with yes lets one claim fire, and is spent by it", () => {
    const claimed = written(apply(after(hold, yes), spend, 2));
    expect(claimed).toMatchObject({ state: { tag: "claimed" }, fired: 1 });
    expect(claimed.attempts[0]?.licence).toBe("first");
    const found = { record: claimed, version: 2, leaseUntil: LEASE_ENDS };
    const second = claimOf({ spend: "digest-1", holder: "holder-2" });
    expect(apply(found, second, 2)).toEqual(refused("busy"));
    expect(apply(found, { ...yes, by: "bo" }, 2)).toEqual(refused("not_open"));
  });

  test("answered with yes is wiped of what was shown", () => {
    expect(after(hold, yes).record.state).toMatchObject({ ask: { shown: undefined } });
  });

  test("is not spent by a claim that shows another digest, or none", () => {
    const found = after(hold, yes);
    for (const digest of ["digest-2", undefined]) {
      expect(apply(found, claimOf({ spend: digest }), 2)).toEqual(refused("mismatch"));
    }
    expect(apply(found, spend, 2).tag).toBe("write");
  });

  test("is not spent once it has expired", () => {
    expect(apply(after(hold, yes), spend, EXPIRES - 1).tag).toBe("write");
    expect(apply(after(hold, yes), spend, EXPIRES)).toEqual(refused("expired"));
  });

  test("takes no answer to another question, nor a yes that comes too late", () => {
    expect(apply(after(hold), { ...yes, digest: "digest-2" }, 2)).toEqual(refused("mismatch"));
    expect(apply(after(hold), yes, EXPIRES)).toEqual(refused("expired"));
  });

  test("answered with no when it has expired is denied all the same: a no gives no right that could end", () => {
    for (const found of [after(hold), after(hold, yes)]) {
      const { state } = written(apply(found, no, EXPIRES));
      expect(state).toMatchObject({ tag: "denied", by: "bo", note: "not now" });
    }
    const other = { ...hold, ask: askOf({ digest: "digest-2", expiresAt: 2 * EXPIRES }) };
    const anew = { ...after(hold), record: written(apply(after(hold), other, EXPIRES)) };
    expect(apply(anew, no, EXPIRES)).toEqual(refused("mismatch"));
  });

  test("answered with no is denied for good, and keeps no intent", () => {
    const { record, ...rest } = after(hold, no);
    expect(record.state).toMatchObject({ tag: "denied", by: "bo", note: "not now" });
    expect(record.intent).toBeUndefined();
    const others = [{ ...yes, digest: "digest-2" }, hold, spend, claimOf({ retry: true })];
    for (const move of others) {
      expect(apply({ record, ...rest }, move, 2)).toEqual(refused("denied"));
    }
  });

  test("answered no and then yes stays denied, and keeps both answers", () => {
    const found = after(hold, no, yes);
    expect(found.record.state).toMatchObject({
      tag: "denied",
      by: "bo",
      answers: [
        { approve: false, by: "bo", counted: true },
        { approve: true, by: "ana", counted: false },
      ],
    });
    expect(apply(found, spend, 2)).toEqual(refused("denied"));
  });

  test("a yes is good for its own question, also when another one was asked since", () => {
    const other = { ...hold, ask: askOf({ digest: "digest-2" }) };
    const asked = after(hold, yes, other);
    expect(apply(asked, claimOf({ spend: "digest-2" }), 2)).toEqual(refused("held"));
    expect(apply(asked, yes, 2)).toEqual(refused("mismatch"));
    const record = written(apply(asked, spend, 2));
    expect(record.state.tag).toBe("claimed");
    expect(record.answers).toMatchObject([{ approve: true, by: "ana" }]);
    expect(apply(asked, spend, EXPIRES)).toEqual(refused("expired"));
  });

  test("a no to a question that was replaced is a no", () => {
    const other = { ...hold, ask: askOf({ digest: "digest-2" }) };
    const found = after(hold, yes, other, no);
    expect(found.record.state).toMatchObject({ tag: "denied", by: "bo" });
  });

  test("who said yes stays known when it is settled", () => {
    const settle: Move = {
      move: "settle",
      epoch: 1,
      holder: "holder-1",
      state: { tag: "committed", via: "reply" },
      updates: [],
      at: 5,
    };
    const { record } = after(hold, yes, spend, settle);
    expect(record.answers).toMatchObject([{ approve: true, by: "ana", counted: true }]);
  });

  test("answered yes and then no is denied as long as nothing was sent, and keeps both answers", () => {
    const found = after(hold, yes, no);
    expect(found.record.state).toMatchObject({
      tag: "denied",
      answers: [
        { approve: true, by: "ana" },
        { approve: false, by: "bo", note: "not now", counted: true },
      ],
    });
    expect(apply(found, spend, 2)).toEqual(refused("denied"));
  });

  test("answered yes twice keeps both answers, and the first one counts", () => {
    const found = after(hold, yes, { ...yes, by: "bo" });
    expect(found.record.state).toMatchObject({
      ask: {
        answers: [
          { approve: true, by: "ana", counted: true },
          { approve: true, by: "bo", counted: false },
        ],
      },
    });
    expect(apply(found, spend, 2).tag).toBe("write");
  });

  test("answered very often forgets others, never the answer that counts", () => {
    const found = after(hold, yes, ...Array.from({ length: 40 }, () => yes));
    expect(found.record.state.tag).toBe("held");
    expect(apply(found, spend, 2).tag).toBe("write");
  });

  test("asked for what was rejected before keeps what the next claim must know", () => {
    const state: State = { tag: "not_applied", reason: "rejected", keyRejected: true };
    const before = stored({ state, intent: undefined });
    const asked = { record: written(apply(before, hold, 2)), version: 2, leaseUntil: undefined };
    expect(asked.record).toMatchObject({ generation: 0, state: { before: state } });
    const other = { ...hold, ask: askOf({ digest: "digest-2" }) };
    const again = { ...asked, record: written(apply(asked, other, 2)) };
    const yesToOther = { ...yes, digest: "digest-2" };
    const answered = { ...again, record: written(apply(again, yesToOther, 2)) };
    const claimed = written(apply(answered, claimOf({ spend: "digest-2" }), 2));
    expect(claimed.generation).toBe(1);
    expect(claimed.attempts.at(-1)).toMatchObject({ licence: "refused", generation: 1, n: 2 });
  });
});
