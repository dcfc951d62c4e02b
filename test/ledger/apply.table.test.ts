import { describe, expect, test } from "vitest";
import { apply } from "../../src/ledger/moves/apply.ts";
import type { Move } from "../../src/ledger/moves/moves.ts";
import type { StateTag } from "../../src/ledger/record.ts";
import {
  askOf,
  claimOf,
  draftOf,
  EVERY_STATE,
  evidenceOf,
  recordOf,
} from "../../src/testing/record-of.ts";

const MOVES = {
  claim: claimOf({ holder: "holder-2", spend: "digest-1", at: 10 }),
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
  file: { move: "file", evidence: evidenceOf(), dedupes: false, at: 10 },
  withdraw: { move: "withdraw", holder: "holder-1", at: 10 },
  hold: { move: "hold", draft: draftOf(), ask: askOf({ digest: "digest-2" }), at: 10 },
  answer: { move: "answer", digest: "digest-1", approve: true, by: "bo", at: 10 },
  resolve: { move: "resolve", as: "committed", by: "ana", at: 10 },
  running: { move: "running", attempt: 1, endsBy: 110 },
  doubt: { move: "doubt", attempt: 1, why: "late_send", endsBy: 10, at: 10 },
  meet: { move: "meet", told: "unknown", aliases: ["call_1"] },
  abandon: { move: "abandon", instead: "operation-2", at: 10 },
  forget: { move: "forget" },
} as const satisfies Record<Move["move"], Move>;

/** What each move leads to: the next state, `=` for none, or `!` and why it is refused. At time 10. */
const TABLE: Record<Move["move"], Record<StateTag | "nothing", string>> = {
  claim: {
    nothing: "claimed",
    held: "claimed",
    claimed: "!busy",
    unknown: "claimed",
    committed: "!settled",
    not_applied: "!settled",
    denied: "!denied",
  },
  note: ofOwner("claimed"),
  renew: ofOwner("claimed"),
  settle: ofOwner("committed"),
  file: {
    nothing: "!absent",
    held: "committed",
    claimed: "claimed",
    unknown: "committed",
    committed: "committed",
    not_applied: "committed",
    denied: "committed",
  },
  withdraw: { ...ofOwner("unknown", "!not_open") },
  hold: {
    nothing: "held",
    held: "held",
    claimed: "!busy",
    unknown: "!settled",
    committed: "!settled",
    not_applied: "held",
    denied: "!denied",
  },
  answer: { ...ofOwner("!not_open", "!not_open"), held: "held", denied: "denied" },
  resolve: {
    nothing: "!absent",
    held: "!held",
    claimed: "!busy",
    unknown: "committed",
    committed: "!settled",
    not_applied: "!settled",
    denied: "!settled",
  },
  running: {
    nothing: "!absent",
    held: "!stale",
    claimed: "!stale",
    unknown: "!stale",
    committed: "!stale",
    not_applied: "!stale",
    denied: "!stale",
  },
  // Of an attempt that is not on record.
  doubt: {
    nothing: "!absent",
    held: "=",
    claimed: "=",
    unknown: "=",
    committed: "=",
    not_applied: "=",
    denied: "=",
  },
  meet: {
    nothing: "!absent",
    held: "held",
    claimed: "claimed",
    unknown: "unknown",
    committed: "committed",
    not_applied: "not_applied",
    denied: "denied",
  },
  abandon: {
    nothing: "!absent",
    held: "!held",
    claimed: "!busy",
    unknown: "unknown",
    committed: "!settled",
    not_applied: "!settled",
    denied: "!settled",
  },
  forget: {
    nothing: "!absent",
    held: "!busy",
    claimed: "!busy",
    unknown: "gone",
    committed: "!settled",
    not_applied: "!settled",
    denied: "!settled",
  },
};

function ofOwner(claimed: string, others = "!stale"): Record<StateTag | "nothing", string> {
  return {
    nothing: "!absent",
    held: others,
    claimed,
    unknown: others,
    committed: others,
    not_applied: others,
    denied: others,
  };
}

const CASES = Object.entries(TABLE).flatMap(([move, results]) =>
  Object.entries(results).map(([tag, result]) => ({ move, tag, result })),
);

describe("each move on each state", () => {
  test.each(CASES)("$move on $tag: $result", ({ move, tag, result }) => {
    const state = EVERY_STATE.find((each) => each.tag === tag);
    const record = state && recordOf({ state, attempts: [] });
    const found = record && { record, version: 1, leaseUntil: 1_000 };
    const applied = apply(found, MOVES[move as Move["move"]], 10);
    if (result === "=") return expect(applied).toEqual({ tag: "same" });
    if (result === "gone")
      return expect(applied).toMatchObject({ tag: "write", record: undefined });
    expect(applied).toMatchObject(
      result.startsWith("!")
        ? { tag: "refused", why: result.slice(1) }
        : { tag: "write", record: { state: { tag: result } } },
    );
  });
});
