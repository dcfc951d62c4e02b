import { describe, expect, test } from "vitest";
import { type Applied, apply } from "../../src/ledger/moves/apply.ts";
import type { Evidence, OperationRecord, State, Stored } from "../../src/ledger/record.ts";
import { askOf, claimOf, evidenceOf, recordOf } from "../../src/testing/record-of.ts";

const stored = (overrides: Partial<OperationRecord> = {}): Stored => ({
  record: recordOf(overrides),
  version: 1,
  leaseUntil: 1_000,
});

const file = (found: Stored, evidence: Evidence, dedupes = false): Applied =>
  apply(found, { move: "file", evidence, dedupes, at: 50 }, 50);

function written(applied: Applied): OperationRecord {
  if (applied.tag !== "write" || !applied.record) throw new Error(JSON.stringify(applied));
  return applied.record;
}

const committedBy = (attempt: number | undefined, effectId?: string): State => ({
  tag: "committed",
  via: attempt === undefined ? "read" : "reply",
  attempt,
  effectId,
});

describe("late evidence", () => {
  test.each([
    { tag: "unknown", reason: "lost_reply" },
    { tag: "not_applied", reason: "absent" },
    { tag: "held", ask: askOf() },
    { tag: "denied", by: "ana" },
  ] satisfies State[])("of a commit turns $tag into committed, with what it knows", (state) => {
    const payload = { form: "json", text: "1" } as const;
    const evidence = evidenceOf({ at: 40, effect: "created", effectId: "re_1", payload });
    const applied = file(stored({ state }), evidence);
    expect(applied).toMatchObject({ tag: "write", lease: "none", report: "corrected" });
    const record = written(applied);
    expect(record.state).toEqual({
      tag: "committed",
      via: "late",
      attempt: 1,
      effect: "created",
      effectId: "re_1",
      payload,
    });
    expect(record).toMatchObject({ stateAt: 50, evidence: [evidence] });
    expect(record.intent).toBeUndefined();
    expect(record.attempts[0]).toMatchObject({ verdict: "committed", endedAt: 40 });
  });

  test("of a commit leaves a claimed operation to its owner, who can fire no more", () => {
    const applied = file(stored(), evidenceOf());
    expect(applied).toMatchObject({ tag: "write", lease: "keep" });
    const record = written(applied);
    expect(record.state.tag).toBe("claimed");
    const note = {
      move: "note",
      epoch: 1,
      holder: "holder-1",
      licence: "keyed",
      updates: [],
      leaseMs: 1,
      at: 60,
    } as const;
    const found = { record, version: 2, leaseUntil: 1_000 };
    expect(apply(found, note, 60)).toEqual({ tag: "refused", why: "evidence" });
  });

  test("of an attempt in a record that was lost does not end the attempt of the same number in the new one", () => {
    const found = stored({ createdAt: 7 });
    const filed = (evidence: Evidence) =>
      apply(found, { move: "file", evidence, madeAt: 5, dedupes: false, at: 50 }, 50);
    for (const verdict of ["not_sent", "refused", "rejected", "unknown"] as const) {
      expect(filed(evidenceOf({ verdict }))).toEqual({ tag: "same" });
    }
    const record = written(filed(evidenceOf()));
    expect(record.evidence).toEqual([evidenceOf({ attempt: 0 })]);
    expect(record.attempts).toEqual(found.record.attempts);
    expect(
      apply(found, { move: "file", evidence: evidenceOf(), madeAt: 7, dedupes: false, at: 50 }, 50),
    ).toMatchObject({ tag: "write", record: { attempts: [{ verdict: "committed" }] } });
  });

  test("of a commit is seen by a claim after a question that was asked in between", () => {
    const settled = stored({ state: { tag: "not_applied", reason: "absent" } });
    const hold = { move: "hold", draft: claimOf().draft, ask: askOf(), at: 45 } as const;
    const held = { ...settled, record: written(apply(settled, hold, 45)) };
    const record = written(file(held, evidenceOf()));
    const claim = claimOf({ spend: "digest-1" });
    expect(apply({ ...settled, record }, claim, 60)).toEqual({ tag: "refused", why: "settled" });
  });

  test.each(["unknown", "not_sent", "refused", "rejected"] as const)(
    "that proves no commit (%s) is kept, and changes no state",
    (verdict) => {
      const state: State = { tag: "unknown", reason: "deadline" };
      const record = written(file(stored({ state }), evidenceOf({ verdict, status: 400 })));
      expect(record.state).toEqual(state);
      expect(record.attempts[0]).toMatchObject({ verdict, status: 400 });
      expect(record.evidence).toHaveLength(1);
    },
  );

  test("is filed whatever epoch it comes from", () => {
    const state: State = { tag: "unknown", reason: "owner_lost" };
    expect(written(file(stored({ state, epoch: 9 }), evidenceOf())).state.tag).toBe("committed");
  });

  test("is kept within bounds, and a commit among it is never forgotten", () => {
    let found = stored({ evidence: [evidenceOf({ effectId: "first" })] });
    for (let at = 0; at < 40; at++) {
      found = { ...found, record: written(file(found, evidenceOf({ verdict: "unknown", at }))) };
    }
    expect(found.record.evidence.length).toBeLessThanOrEqual(16);
    expect(found.record.evidence[0]?.effectId).toBe("first");
    expect(found.record.evidence.at(-1)?.at).toBe(39);
  });
});

test("a yes is not filed with another intent, which a caller has given its key since", () => {
  const state: State = { tag: "unknown", reason: "deadline" };
  const filing = { move: "file", evidence: evidenceOf(), dedupes: false, at: 50 } as const;
  const found = stored({ state, fingerprint: "one" });
  expect(apply(found, { ...filing, fingerprint: "other" }, 50)).toEqual({
    tag: "refused",
    why: "conflict",
  });
  expect(apply(found, { ...filing, fingerprint: "one" }, 50).tag).toBe("write");
});

test("a yes to an attempt whose number another owner has given anew is another effect", () => {
  const yes = evidenceOf({ epoch: 2 });
  const filing = { move: "file", evidence: yes, dedupes: false, at: 50 } as const;
  const found = stored({ state: committedBy(1) });
  expect(apply(found, filing, 50)).toMatchObject({
    report: "duplicate",
    record: { attempts: found.record.attempts, evidence: [{ attempt: 0 }] },
  });
  expect(apply(found, { ...filing, evidence: evidenceOf() }, 50)).toMatchObject({
    report: undefined,
  });
});

test("what a read found may be the effect of any attempt: it is no second one, and is told as read", () => {
  const found = evidenceOf({ attempt: 2, found: true });
  const filing = { move: "file", evidence: found, dedupes: false, at: 50 } as const;
  const settled = stored({ state: committedBy(1) });
  expect(apply(settled, filing, 50)).toMatchObject({ report: undefined });
  const open = stored({ state: { tag: "unknown", reason: "deadline" } });
  expect(written(apply(open, filing, 50)).state).toMatchObject({ via: "read", attempt: undefined });
});

test("a yes to an attempt of a lost record is another effect than that of the attempt of its number", () => {
  const filing = { move: "file", evidence: evidenceOf(), madeAt: 5, at: 50 } as const;
  const found = stored({ createdAt: 7, state: committedBy(1) });
  expect(apply(found, { ...filing, dedupes: false }, 50)).toMatchObject({ report: "duplicate" });
  expect(apply(found, { ...filing, dedupes: true }, 50)).toMatchObject({ report: undefined });
  const same = { ...filing, madeAt: 7, dedupes: false };
  expect(apply(found, same, 50)).toMatchObject({ report: undefined });
});

/** The second yes, whether it comes as evidence after the settle or settles after the evidence. */
describe.each([
  ["another attempt committed too", committedBy(2), evidenceOf(), false, "duplicate"],
  ["the service dedupes: two yeses are one effect", committedBy(2), evidenceOf(), true, undefined],
  ["it is the same attempt", committedBy(1), evidenceOf(), false, undefined],
  [
    "both come from records that were lost",
    committedBy(0),
    evidenceOf({ attempt: 0 }),
    false,
    "duplicate",
  ],
  [
    "a reading found what may be this very one",
    committedBy(undefined),
    evidenceOf(),
    false,
    undefined,
  ],
  [
    "both name the same effect",
    committedBy(2, "re_1"),
    evidenceOf({ effectId: "re_1" }),
    false,
    undefined,
  ],
  [
    "they name two effects, though the service should dedupe",
    committedBy(2, "re_2"),
    evidenceOf({ effectId: "re_1" }),
    true,
    "duplicate",
  ],
  ["only the settled one names its effect", committedBy(2, "re_1"), evidenceOf(), true, undefined],
  [
    "only the filed one names its effect",
    committedBy(2),
    evidenceOf({ effectId: "re_1" }),
    true,
    undefined,
  ],
  [
    "the late answer proves nothing",
    committedBy(2),
    evidenceOf({ verdict: "unknown" }),
    false,
    undefined,
  ],
] as const)("when %s", (_, state, evidence, dedupes, report) => {
  test(report ? "late evidence is a duplicate" : "late evidence is no duplicate", () => {
    const applied = file(stored({ state }), evidence, dedupes);
    expect(applied).toMatchObject({ tag: "write", report });
    expect(written(applied).state).toEqual(state);
  });

  test(report ? "a settle after it is a duplicate" : "a settle after it is no duplicate", () => {
    if (state.tag !== "committed") throw new Error(state.tag);
    const settle = {
      move: "settle",
      epoch: 1,
      holder: "holder-1",
      state,
      updates: [],
      dedupes,
      at: 60,
    } as const;
    expect(apply(stored({ evidence: [evidence] }), settle, 60)).toMatchObject({
      tag: "write",
      report,
    });
  });
});

describe("the doubt of an owner whose record was lost, and made anew by another", () => {
  const note = { n: 3, epoch: 2, generation: 0, licence: "first", at: 2, endedAt: 40 } as const;
  const evidence = evidenceOf({ attempt: 3, epoch: 2, verdict: "unknown" });
  const doubt = (found: Stored, more: object = {}): Applied =>
    apply(found, { move: "file", evidence, madeAt: 1, note, dedupes: false, at: 50, ...more }, 50);
  const unknown: State = { tag: "unknown", reason: "store_lost" };
  const held: State = { tag: "held", ask: askOf() };
  const claimed: State = { tag: "claimed", holder: "holder-1" };

  test.each<[State, State, number, string]>([
    [claimed, { ...claimed, before: unknown, beforeAt: 50 }, 0, "keep"],
    [held, { ...held, before: unknown }, 0, "keep"],
    [{ tag: "not_applied", reason: "rejected" }, unknown, 50, "none"],
    [{ tag: "unknown", reason: "lost_reply" }, { tag: "unknown", reason: "lost_reply" }, 0, "keep"],
    [{ tag: "denied", by: "ana" }, { tag: "denied", by: "ana" }, 0, "keep"],
  ])("is an attempt before all others: %j", (state, after, stateAt, lease) => {
    const applied = doubt(stored({ state }));
    expect(applied).toMatchObject({ tag: "write", lease });
    const record = written(applied);
    expect(record).toMatchObject({ state: after, stateAt, fired: 1, evidence: [] });
    const lost = { ...note, n: 0, epoch: 0, verdict: "unknown" };
    expect(record.attempts).toEqual([lost, ...recordOf().attempts]);
    expect(record.untold).toBe(stateAt === 50 ? true : undefined);
  });

  test("is not added to a commit, nor twice, nor where its end is known", () => {
    const committed = stored({ state: committedBy(1) });
    const once = { ...stored(), record: written(doubt(stored())) };
    for (const same of [
      doubt(committed),
      doubt(once),
      doubt(stored(), { evidence: { ...evidence, verdict: "rejected" } }),
      doubt(stored(), { note: undefined }),
    ]) {
      expect(same).toEqual({ tag: "same" });
    }
  });

  test("leaves abandoned what a person gave up", () => {
    const state: State = { tag: "not_applied", reason: "rejected" };
    const record = written(doubt(stored({ state, abandonedFor: "other" })));
    expect(record.state).toEqual({ tag: "unknown", reason: "abandoned" });
  });

  test("stops an owner that has not heard of it, until it was cleared", () => {
    const found = { ...stored(), record: written(doubt(stored())) };
    const own = { holder: "holder-1", epoch: 1, at: 60 } as const;
    const rejected = { n: 1, verdict: "rejected", endedAt: 55 } as const;
    const settle = (known: Stored, updates: readonly { n: number }[]) =>
      apply(
        known,
        { move: "settle", state: { tag: "not_applied", reason: "rejected" }, updates, ...own },
        60,
      );
    const again = (updates: readonly { n: number }[]) =>
      apply(found, { move: "note", licence: "refused", leaseMs: 1, updates, ...own }, 60);
    const changed = { tag: "refused", why: "changed" };
    expect([settle(found, [rejected]), again([rejected])]).toEqual([changed, changed]);
    expect(again([rejected, { n: 0 }]).tag).toBe("write");
    const attempts = found.record.attempts.map((one) =>
      one.n === 0 ? { ...one, cleared: "person" as const } : one,
    );
    const cleared = { ...found, record: { ...found.record, attempts } };
    expect(settle(cleared, [rejected]).tag).toBe("write");
  });
});
