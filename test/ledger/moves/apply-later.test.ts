/** What is taken back, forgotten or given up later, and what stops it. */
import { describe, expect, test } from "vitest";
import { apply } from "../../../src/ledger/moves/apply.ts";
import { LOST_EPOCH } from "../../../src/ledger/moves/lost-data.ts";
import type { AttemptNote, State } from "../../../src/ledger/record.ts";
import { evidenceOf, recordOf } from "../../../src/testing/record-of.ts";
import { first, held, LEASE_ENDS, no, refused, stored, unknown, written, yes } from "./stored.ts";

describe("an attempt that tells that it still runs", () => {
  const running = { move: "running", attempt: 1, endsBy: 600 } as const;

  test("is told to stop if its operation is done, or nobody knows the attempt", () => {
    expect(apply(stored({ state: yes }), running, 10)).toEqual(refused("settled"));
    expect(apply(stored(), { ...running, attempt: 2 }, 10)).toEqual(refused("stale"));
    expect(apply(stored({ state: unknown }), running, 10).tag).toBe("write");
  });

  test("is told to stop if its record was lost, and made anew for other attempts", () => {
    const found = stored({ state: unknown });
    const { createdAt } = found.record;
    expect(apply(found, { ...running, madeAt: createdAt - 1 }, 10)).toEqual(refused("stale"));
    expect(apply(found, { ...running, madeAt: createdAt }, 10).tag).toBe("write");
  });

  test("is noted where its own note was lost: on the attempt in doubt that stands for it", () => {
    const lost = { ...first, n: 3, epoch: LOST_EPOCH, endsBy: 100 };
    const found = stored({ state: unknown, attempts: [first, lost] });
    const { createdAt } = found.record;
    for (const move of [{ madeAt: createdAt - 1 }, { madeAt: createdAt, attempt: 2 }]) {
      const [own, other] = written(apply(found, { ...running, ...move }, 10)).attempts;
      expect(own).toEqual(first);
      expect(other).toMatchObject({ n: 3, endsBy: 600 });
    }
    // What was read since relies on it.
    const cleared = stored({ state: unknown, attempts: [{ ...lost, cleared: "absent" }] });
    const madeAt = createdAt - 1;
    expect(apply(cleared, { ...running, madeAt }, 10)).toEqual(refused("stale"));
  });

  test("is noted on its own note where its owner has restored the record", () => {
    const lost = { ...first, epoch: LOST_EPOCH, endsBy: 100 };
    const found = stored({ state: unknown, attempts: [lost, { ...lost, n: 2 }] });
    const move = { ...running, attempt: 2, epoch: 1 };
    expect(written(apply(found, move, 10)).attempts).toMatchObject([
      { n: 1, endsBy: 100 },
      { n: 2, endsBy: 600 },
    ]);
    const cleared = { ...lost, n: 2, cleared: "absent" } as const;
    const since = stored({ state: unknown, attempts: [lost, cleared] });
    expect(apply(since, move, 10)).toEqual(refused("stale"));
  });

  test("is noted there also if what stands for it has ended: that one then ends later", () => {
    const ended = { ...first, epoch: LOST_EPOCH, verdict: "unknown", endedAt: 9 } as const;
    const found = stored({ state: unknown, attempts: [ended] });
    const { attempts } = written(apply(found, { ...running, attempt: 2, epoch: 2 }, 10));
    expect(attempts).toMatchObject([{ n: 1, verdict: "unknown", endedAt: 600 }]);
    // Its own note says that it has ended.
    const own = stored({ state: unknown, attempts: [{ ...ended, epoch: 1 }] });
    expect(apply(own, { ...running, epoch: 1 }, 10)).toEqual({ tag: "same" });
  });

  test("is told to stop if another owner has given its number to another attempt, or its key to another intent", () => {
    const found = stored({ state: unknown, fingerprint: "one" });
    expect(apply(found, { ...running, epoch: 1, fingerprint: "one" }, 10).tag).toBe("write");
    expect(apply(found, { ...running, epoch: 2 }, 10)).toEqual(refused("stale"));
    expect(apply(found, { ...running, fingerprint: "other" }, 10)).toEqual(refused("conflict"));
  });
});

describe("what is taken back", () => {
  const late = { move: "doubt", attempt: 1, why: "late_send", endsBy: 50, at: 20 } as const;
  const unvetoable = { ...late, why: "unvetoable" } as const;
  const ended: AttemptNote = { ...first, verdict: "rejected", endedAt: 9 };

  test("is never that it happened", () => {
    const found = stored({ state: yes, attempts: [ended] });
    expect(apply(found, late, 20)).toEqual({ tag: "same" });
    const said = stored({ state: unknown, attempts: [{ ...ended, verdict: "committed" }] });
    expect(apply(said, late, 20)).toEqual({ tag: "same" });
  });

  test("is of an attempt that is known, and of no other one", () => {
    expect(apply(stored({ state: no }), { ...late, attempt: 7 }, 20)).toEqual({ tag: "same" });
    const found = stored({ state: unknown, attempts: [ended, { ...ended, n: 2 }] });
    const { attempts } = written(apply(found, late, 20));
    expect(attempts.map(({ verdict }) => verdict)).toEqual(["unknown", "rejected"]);
  });

  test("is what was settled as undone, and what a claim or a question would lead back to", () => {
    const doubted = { tag: "unknown", reason: "late_send" };
    const stateAfter = (state: State) => {
      const applied = apply(stored({ state, attempts: [ended] }), late, 20);
      return { state: written(applied).state, lease: applied.tag === "write" && applied.lease };
    };
    expect(stateAfter(no)).toEqual({ state: doubted, lease: "none" });
    expect(stateAfter({ tag: "claimed", holder: "holder-1", before: no })).toMatchObject({
      state: { tag: "claimed", before: doubted },
      lease: "keep",
    });
    expect(stateAfter({ ...held, before: no })).toMatchObject({
      state: { tag: "held", before: doubted },
      lease: "keep",
    });
  });

  test("is not what is open, or leads back to what is open: only the attempt is doubted", () => {
    for (const state of [
      unknown,
      held,
      { tag: "claimed", holder: "holder-1" },
      { ...held, before: unknown },
    ] satisfies State[]) {
      const record = written(apply(stored({ state, attempts: [ended] }), late, 20));
      expect(record.state).toEqual(state);
      expect(record.attempts[0]).toMatchObject({ verdict: "unknown", endedAt: 50 });
    }
  });

  test("leaves the time of a question, a place in a queue and a person's no as it was", () => {
    const denied: State = { tag: "denied", by: "ana", digest: "digest-1" };
    for (const state of [held, denied] satisfies State[]) {
      const record = written(apply(stored({ state, stateAt: 10, attempts: [ended] }), late, 20));
      expect(record).toMatchObject({ state, stateAt: 10, attempts: [{ verdict: "unknown" }] });
    }
  });

  test("is not what a person gave up for another: that stays given up", () => {
    const record = recordOf({ state: no, attempts: [ended], abandonedFor: "operation-2" });
    expect(written(apply({ ...stored(), record }, late, 20)).state).toEqual({
      tag: "unknown",
      reason: "abandoned",
    });
  });

  test("is also what a claim would lead back to by way of a question", () => {
    const state: State = { tag: "claimed", holder: "holder-1", before: { ...held, before: no } };
    expect(written(apply(stored({ state, attempts: [ended] }), late, 20)).state).toMatchObject({
      before: { tag: "held", before: { tag: "unknown", reason: "late_send" } },
    });
  });

  test("makes void what a person says who looked before, and a no while the write may be under way", () => {
    const resolve = { move: "resolve", as: "not_applied", by: "ana", at: 60 } as const;
    const claim = { tag: "claimed", holder: "holder-1", before: unknown, beforeAt: 10 } as const;
    for (const [state, withdrawn] of [
      [unknown, false],
      [claim, false],
      [claim, true],
    ] as const) {
      const seen = stored({ state, stateAt: 10, epoch: 2, attempts: [ended] });
      const doubted = { ...seen, record: written(apply(seen, late, 20)) };
      const back = { move: "withdraw", holder: "holder-1", at: 30 } as const;
      const record = withdrawn ? written(apply(doubted, back, 30)) : doubted.record;
      const found = { ...doubted, record, leaseUntil: undefined };
      expect(apply(found, { ...resolve, asOf: 10 }, 60)).toEqual(refused("changed"));
      expect(apply(found, { ...resolve, asOf: 20 }, 49)).toEqual(refused("running"));
      expect(apply(found, { ...resolve, asOf: 20 }, 60).tag).toBe("write");
    }
  });

  test("is, of an attempt that nobody can stop, only that it can be stopped", () => {
    const record = written(apply(stored({ state: no }), unvetoable, 20));
    expect(record).toMatchObject({ state: no, attempts: [{ ...first, unvetoable: true }] });
    expect(record.attempts[0]?.verdict).toBeUndefined();
    for (const note of [
      { ...first, endedAt: 9 },
      { ...first, unvetoable: true },
    ] as const) {
      expect(apply(stored({ attempts: [note] }), unvetoable, 20)).toEqual({ tag: "same" });
    }
  });
});

describe("an operation that is met again", () => {
  const meet = { move: "meet", told: "committed", aliases: [] } as const;

  test("gets no run from a caller that has none, and is written only if something changes", () => {
    const found = stored({ state: yes, runs: ["run-1"] });
    expect(apply(found, meet, 10)).toEqual({ tag: "same" });
    expect(written(apply(found, { ...meet, run: "run-2" }, 10)).runs).toEqual(["run-1", "run-2"]);
    expect(written(apply(found, { ...meet, aliases: ["call_1"] }, 10)).runs).toEqual(["run-1"]);
  });

  test("is told from then on, though nothing else is new", () => {
    const found = stored({ state: yes, untold: true });
    const applied = apply(found, meet, 10);
    expect(written(applied).untold).toBeUndefined();
    expect(applied).toMatchObject({ lease: "keep" });
  });

  test("stays untold while it is open", () => {
    const found = stored({ state: unknown, untold: true });
    const record = written(apply(found, { ...meet, told: "unknown", aliases: ["a"] }, 10));
    expect(record.untold).toBe(true);
  });
});

describe("an operation that a person wants forgotten", () => {
  const forget = { move: "forget" } as const;

  test("is forgotten if it is unknown, and nobody knows of a commit", () => {
    const gone = { tag: "write", record: undefined, lease: "none" };
    expect(apply(stored({ state: unknown }), forget, 10)).toEqual(gone);
    const found = stored({ state: unknown, evidence: [evidenceOf()] });
    expect(apply(found, forget, 10)).toEqual(refused("evidence"));
    expect(apply(stored(), forget, 10)).toEqual(refused("busy"));
    expect(apply(stored({ state: no }), forget, 10)).toEqual(refused("settled"));
  });
});

describe("an operation that a person gives up for another", () => {
  const abandon = { move: "abandon", instead: "operation-2", at: 10 } as const;

  test("is noted on a commit that was told to none and that the person was shown, and on no other one", () => {
    const shown = { ...abandon, shownDone: true };
    const applied = apply(stored({ state: yes, untold: true }), shown, 10);
    expect(applied).toMatchObject({ lease: "keep", record: { abandonedFor: "operation-2" } });
    expect(written(applied).state).toEqual(yes);
    // Done at the last moment: the person agreed to another one in place of what was open.
    const unseen = stored({ state: yes, untold: true });
    expect(apply(unseen, abandon, 10)).toEqual(refused("settled"));
    expect(apply(stored({ state: yes }), shown, 10)).toEqual(refused("settled"));
    expect(apply(stored({ state: no, untold: true }), shown, 10)).toEqual(refused("settled"));
  });

  test("is left to its owner while the lease runs, and fenced off after", () => {
    expect(apply(stored(), abandon, LEASE_ENDS - 1)).toEqual(refused("busy"));
    expect(written(apply(stored(), abandon, LEASE_ENDS))).toMatchObject({
      state: { tag: "unknown", reason: "abandoned" },
      epoch: 2,
      untold: true,
    });
    expect(apply(stored({ state: unknown }), abandon, LEASE_ENDS - 1).tag).toBe("write");
    expect(apply(stored({ state: held }), abandon, 10)).toEqual(refused("held"));
  });

  test("is given up once", () => {
    const found = stored({ state: unknown, abandonedFor: "operation-3" });
    expect(apply(found, abandon, 10)).toEqual({ tag: "same" });
    const taken = written(apply(stored({ abandonedFor: "operation-3" }), abandon, LEASE_ENDS));
    expect(taken.abandonedFor).toBe("operation-2");
  });
});
