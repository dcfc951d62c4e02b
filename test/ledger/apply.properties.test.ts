import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Applied, apply } from "../../src/ledger/moves/apply.ts";
import { hasCommitEvidence } from "../../src/ledger/moves/evidence.ts";
import type { Move } from "../../src/ledger/moves/moves.ts";
import { isCleared, isOpen, type OperationRecord, type Stored } from "../../src/ledger/record.ts";
import { anyMove, anyStored, anyStory } from "./arbitrary.ts";

const RUNS = { seed: 20_261_116, numRuns: 5_000 };
const now = fc.integer({ min: 0, max: 300 });

const written = (applied: Applied): OperationRecord | undefined =>
  applied.tag === "write" ? applied.record : undefined;

/** For every record, possible or not, every move and every time. */
function always(check: (stored: Stored | undefined, move: Move, applied: Applied) => void): void {
  fc.assert(
    fc.property(anyStored, anyMove, now, (stored, move, time) => {
      check(stored, move, apply(stored, move, time));
    }),
    RUNS,
  );
}

interface Step {
  readonly time: number;
  readonly before: Stored | undefined;
  readonly move: Move;
  readonly applied: Applied;
  readonly after: Stored | undefined;
}

/** For every sequence of moves from nothing, with the store's part played here. */
function throughout(check: (step: Step) => void): void {
  fc.assert(
    fc.property(anyStory, (story) => {
      let stored: Stored | undefined;
      let version = 0;
      let time = 0;
      for (const { move, pauseMs } of story) {
        time += pauseMs;
        const applied = apply(stored, move, time);
        let after = stored;
        if (applied.tag === "write") {
          version += 1;
          const { record, lease } = applied;
          const kept = lease === "keep" ? stored?.leaseUntil : undefined;
          const leaseUntil = typeof lease === "number" ? time + lease : kept;
          after = record && { record, version, leaseUntil };
        }
        check({ time, before: stored, move, applied, after });
        stored = after;
      }
    }),
    RUNS,
  );
}

describe("for any record and any move", () => {
  test("the move is judged without an exception, and the record is left as it was", () => {
    fc.assert(
      fc.property(anyStored, anyMove, now, (stored, move, time) => {
        const copy = structuredClone({ stored, move });
        expect(apply(stored, move, time).tag).toBeOneOf(["write", "same", "refused"]);
        expect({ stored, move }).toEqual(copy);
      }),
      RUNS,
    );
  });

  test("the same move on the same record at the same time is judged the same", () => {
    fc.assert(
      fc.property(anyStored, anyMove, now, (stored, move, time) => {
        expect(apply(stored, move, time)).toEqual(apply(stored, move, time));
      }),
      RUNS,
    );
  });

  test("the epoch never falls, and rises with every claim that is written", () => {
    always((stored, move, applied) => {
      const next = written(applied);
      if (!stored || !next) return;
      expect(next.epoch).toBeGreaterThanOrEqual(stored.record.epoch);
      if (move.move === "claim") expect(next.epoch).toBe(stored.record.epoch + 1);
    });
  });

  test("what names the operation never changes", () => {
    always((stored, _, applied) => {
      const next = written(applied);
      if (!stored || !next) return;
      const { tenant, id, tool, scope, fingerprint, createdAt } = stored.record;
      expect(next).toMatchObject({ tenant, id, tool, scope, fingerprint, createdAt });
    });
  });

  test("a committed operation stays committed", () => {
    always((stored, _, applied) => {
      if (stored?.record.state.tag !== "committed" || applied.tag !== "write") return;
      expect(applied.record?.state).toEqual(stored.record.state);
    });
  });

  test("a denied operation stays denied, but for the evidence of a commit", () => {
    always((stored, move, applied) => {
      if (stored?.record.state.tag !== "denied" || applied.tag !== "write") return;
      const isCommit = move.move === "file" && move.evidence.verdict === "committed";
      expect(applied.record?.state.tag).toBe(isCommit ? "committed" : "denied");
    });
  });

  test("a not applied operation is only claimed, asked for, or corrected by a commit or a late request", () => {
    always((stored, move, applied) => {
      if (stored?.record.state.tag !== "not_applied" || applied.tag !== "write") return;
      const isCommit = move.move === "file" && move.evidence.verdict === "committed";
      const others: Partial<Record<Move["move"], string>> = { claim: "claimed", hold: "held" };
      const isLate = move.move === "doubt" && move.why === "late_send";
      const expected = isCommit ? "committed" : (others[move.move] ?? "not_applied");
      expect(applied.record?.state.tag).toBe(isLate ? "unknown" : expected);
    });
  });

  test("a fenced move with another epoch is refused", () => {
    always((stored, move, applied) => {
      if (!stored || !("epoch" in move) || move.epoch === stored.record.epoch) return;
      expect(applied).toEqual({ tag: "refused", why: "stale" });
    });
  });

  test("nothing is fired once a commit is known of", () => {
    always((stored, _, applied) => {
      const next = written(applied);
      if (!stored || !next || !hasCommitEvidence(stored.record)) return;
      expect(next.fired).toBeLessThanOrEqual(stored.record.fired);
    });
  });

  test("the generation moves only by the claim after a rejected key, or back by its withdrawal", () => {
    always((stored, move, applied) => {
      const next = written(applied);
      if (!stored || !next) return;
      const moved = next.generation - stored.record.generation;
      const { state } = stored.record;
      const settled = state.tag === "held" ? state.before : state;
      const isRejected = settled?.tag === "not_applied" && settled.keyRejected === true;
      if (move.move === "claim") expect(moved).toBe(isRejected ? 1 : 0);
      else if (move.move !== "withdraw") expect(moved).toBe(0);
    });
  });

  test("an attempt in doubt is forgotten by nothing but a withdrawal", () => {
    always((stored, move, applied) => {
      const next = written(applied);
      if (!stored || !next || move.move === "withdraw") return;
      const doubts = stored.record.attempts.filter((attempt) => !isCleared(attempt));
      const left = new Set(next.attempts.map(({ n }) => n));
      expect(doubts.every(({ n }) => left.has(n))).toBe(true);
    });
  });

  test("a commit, once filed, is not forgotten", () => {
    always((stored, _, applied) => {
      if (!stored || applied.tag !== "write" || !hasCommitEvidence(stored.record)) return;
      expect(applied.record && hasCommitEvidence(applied.record)).toBe(true);
    });
  });
});

describe("for any sequence of moves from nothing", () => {
  test("what is settled keeps no intent, and what is open has one unless a late request reopened it", () => {
    throughout(({ before, move, after }) => {
      if (!after) return;
      const { state, intent } = after.record;
      const isReopened =
        before && !before.record.intent && (move.move === "doubt" || isOpen(before.record.state));
      if (!isOpen(state)) expect(intent).toBeUndefined();
      else if (!isReopened) expect(intent).toBeDefined();
    });
  });

  test("a known commit leaves the operation committed, or with the owner who will settle it so", () => {
    throughout(({ after }) => {
      if (!after || !hasCommitEvidence(after.record)) return;
      expect(after.record.state.tag).toBeOneOf(["committed", "claimed"]);
    });
  });

  test("only a withdrawal removes the operation", () => {
    throughout(({ before, move, after }) => {
      if (before && !after) expect(move.move).toBe("withdraw");
    });
  });

  test("only a claimed operation has a lease", () => {
    throughout(({ after }) => {
      if (after?.leaseUntil !== undefined) expect(after.record.state.tag).toBe("claimed");
    });
  });

  test("attempts are numbered without a repeat, up to how often it was fired", () => {
    throughout(({ after }) => {
      if (!after) return;
      const numbers = after.record.attempts.map(({ n }) => n);
      expect(new Set(numbers).size).toBe(numbers.length);
      expect(Math.max(0, ...numbers)).toBe(after.record.fired);
    });
  });

  test("a denied operation is never fired", () => {
    throughout(({ before, after }) => {
      if (before?.record.state.tag !== "denied" || !after) return;
      expect(after.record.fired).toBe(before.record.fired);
    });
  });

  test("a claim passes to another only when its lease is over", () => {
    throughout(({ before, after, time }) => {
      if (before?.record.state.tag !== "claimed" || after?.record.state.tag !== "claimed") return;
      if (after.record.state.holder === before.record.state.holder) return;
      expect(before.leaseUntil).toBeLessThanOrEqual(time);
      expect(after.record.state.before).toEqual({ tag: "unknown", reason: "owner_lost" });
      expect(after.record.fired).toBe(before.record.fired);
    });
  });

  test("nothing is fired from a question that nobody answered with yes", () => {
    throughout(({ before, after }) => {
      if (before?.record.state.tag !== "held" || after?.record.state.tag !== "claimed") return;
      const { answers } = before.record.state.ask;
      expect(answers.find(({ counted }) => counted)?.approve).toBe(true);
    });
  });
});
