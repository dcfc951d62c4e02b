/** Which facts in a record stop a move, and which do not: one test per fact, so that none is taken for another. */
import { describe, expect, test } from "vitest";
import { apply } from "../../../src/ledger/moves/apply.ts";
import type { AttemptNote } from "../../../src/ledger/record.ts";
import { evidenceOf } from "../../../src/testing/record-of.ts";
import { first, held, no, refused, type Settled, stored, unknown, written, yes } from "./stored.ts";

const second: AttemptNote = { ...first, n: 2 };
const owner = { epoch: 1, holder: "holder-1" } as const;
const unverified: AttemptNote = { ...first, verdict: "unknown", unverified: true };

describe("who owns an operation", () => {
  const renew = { move: "renew", ...owner, leaseMs: 5 } as const;

  test("is the holder of its claim, in its epoch", () => {
    expect(apply(stored(), renew, 10).tag).toBe("write");
    expect(apply(stored(), { ...renew, holder: "holder-2" }, 10)).toEqual(refused("stale"));
    expect(apply(stored(), { ...renew, epoch: 2 }, 10)).toEqual(refused("stale"));
  });

  test.each([unknown, yes, no, held])("is nobody once it is $tag", (state) => {
    expect(apply(stored({ state }), renew, 10)).toEqual(refused("stale"));
  });
});

describe("an owner that is about to fire again", () => {
  const note = {
    move: "note",
    ...owner,
    licence: "keyed",
    updates: [],
    leaseMs: 5,
    at: 10,
  } as const;

  test("may not, once a person gave the operation up for another", () => {
    expect(apply(stored({ abandonedFor: "operation-2" }), note, 10)).toEqual(refused("abandoned"));
  });

  test("may not, while the service has said yes and it was not verified", () => {
    expect(apply(stored({ attempts: [unverified] }), note, 10)).toEqual(refused("evidence"));
    const accepted = { ...first, verdict: "unknown", accepted: true } as const;
    expect(apply(stored({ attempts: [accepted, second] }), note, 10)).toEqual(refused("evidence"));
    const cleared = { ...unverified, cleared: "person" } as const;
    expect(apply(stored({ attempts: [cleared] }), note, 10).tag).toBe("write");
  });

  test("may not, on an end that was not the last", () => {
    const later = { ...first, verdict: "unknown", endedAt: 50 } as const;
    const updates = [{ n: 1, verdict: "not_sent", endedAt: 20 }] as const;
    const found = stored({ attempts: [later] });
    expect(apply(found, { ...note, updates }, 60)).toEqual(refused("changed"));
    expect(apply(found, { ...note, updates: [{ ...updates[0], endedAt: 50 }] }, 60).tag).toBe(
      "write",
    );
  });
});

describe("an owner that settles", () => {
  const settle = { move: "settle", ...owner, updates: [], at: 10 } as const;

  test("leaves it unknown, not undone, if the service has said yes and it was not verified", () => {
    const found = stored({ attempts: [second, unverified] });
    const record = written(apply(found, { ...settle, state: no }, 10));
    expect(record.state).toEqual({ tag: "unknown", reason: "unverified" });
    const cleared: AttemptNote = { ...unverified, cleared: "person" };
    expect(
      written(apply(stored({ attempts: [cleared] }), { ...settle, state: no }, 10)).state,
    ).toEqual(no);
  });

  test("keeps its own word where it is unknown or committed, in spite of such a yes", () => {
    const found = stored({ attempts: [unverified] });
    expect(written(apply(found, { ...settle, state: unknown }, 10)).state).toEqual(unknown);
    expect(written(apply(found, { ...settle, state: yes }, 10)).state).toEqual(yes);
  });

  test("may give up on an end that was not the last, but not deny on it", () => {
    const later = { ...first, verdict: "unknown", endedAt: 50 } as const;
    const updates = [{ n: 1, verdict: "not_sent", endedAt: 20 }] as const;
    const found = stored({ attempts: [later] });
    expect(apply(found, { ...settle, updates, state: no }, 60)).toEqual(refused("changed"));
    expect(apply(found, { ...settle, updates, state: unknown }, 60).tag).toBe("write");
  });

  test("has told its caller, unless it is open or there was none", () => {
    const untold = (state: Settled, told?: boolean) =>
      written(apply(stored(), { ...settle, state, told }, 10)).untold;
    expect(untold(yes)).toBeUndefined();
    expect(untold(yes, true)).toBeUndefined();
    expect(untold(no, true)).toBeUndefined();
    expect(untold(yes, false)).toBe(true);
    expect(untold(unknown, true)).toBe(true);
  });

  test("leaves what was given up as given up, until it is known", () => {
    const found = stored({ abandonedFor: "operation-2" });
    const stateAfter = (state: Settled) => written(apply(found, { ...settle, state }, 10)).state;
    expect(stateAfter(unknown)).toEqual({ tag: "unknown", reason: "abandoned" });
    expect(stateAfter(yes)).toEqual(yes);
    expect(written(apply(stored(), { ...settle, state: unknown }, 10)).state).toEqual(unknown);
  });
});

describe("a person who resolves", () => {
  const deny = { move: "resolve", as: "not_applied", by: "ana", at: 10 } as const;
  const confirm = { ...deny, as: "committed" } as const;

  test("must have seen the record as it is", () => {
    const found = stored({ state: unknown, stateAt: 7 });
    expect(apply(found, { ...deny, asOf: 7 }, 10).tag).toBe("write");
    expect(apply(found, { ...deny, asOf: 6 }, 10)).toEqual(refused("changed"));
  });

  test("may confirm what somebody knows of, and not deny it", () => {
    const found = stored({ state: unknown, evidence: [evidenceOf()] });
    expect(apply(found, confirm, 10).tag).toBe("write");
    expect(apply(found, deny, 10)).toEqual(refused("evidence"));
  });

  test("does not deny what may still be sent, unless anyway", () => {
    const running = { ...second, endsBy: 50 };
    const found = stored({ state: unknown, attempts: [first, running] });
    expect(apply(found, deny, 49)).toEqual(refused("running"));
    expect(apply(found, { ...deny, anyway: true }, 49).tag).toBe("write");
    expect(apply(found, confirm, 49).tag).toBe("write");
    expect(apply(found, deny, 50).tag).toBe("write");
    const cleared = stored({ state: unknown, attempts: [{ ...running, cleared: "absent" }] });
    expect(apply(cleared, deny, 49).tag).toBe("write");
  });

  test("clears what is in doubt by a no alone, and what was cleared stays as it was", () => {
    const absent: AttemptNote = { ...first, cleared: "absent" };
    const found = stored({ state: unknown, attempts: [absent, second] });
    const cleared = (move: typeof deny | typeof confirm) =>
      written(apply(found, move, 10)).attempts.map((one) => one.cleared);
    expect(cleared(deny)).toEqual(["absent", "person"]);
    expect(cleared(confirm)).toEqual(["absent", undefined]);
  });

  test("is refused what a person is asked about, and what is settled", () => {
    expect(apply(stored({ state: held }), deny, 10)).toEqual(refused("held"));
    expect(apply(stored({ state: no }), deny, 10)).toEqual(refused("settled"));
  });
});
