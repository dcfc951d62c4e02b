/**
 * Doubt is sticky: of several attempts in doubt, one is enough to hold the fire, and a licence has to hold for each. Every
 * row is decided twice, with the telling attempt first and last.
 */
import { describe, expect, test } from "vitest";
import {
  type Decision,
  decide,
  mayStillResend,
  type Situation,
} from "../../src/engine/steps/parts/decide.ts";
import { LOST_EPOCH } from "../../src/ledger/moves/lost-data.ts";
import type { AttemptNote } from "../../src/ledger/record.ts";
import type { UnknownReason } from "../../src/reasons.ts";
import {
  attemptOf,
  CONDITIONAL,
  KEYED,
  looked,
  NOTHING,
  READABLE,
  situation,
} from "./situation.ts";

const hold = (reason: UnknownReason): Decision => ({ do: "leave_unknown", reason });
const KEYED_FIRE: Decision = { do: "fire", licence: "keyed", clears: [] };
const INNER_FIRE: Decision = { do: "fire", licence: "not_sent", clears: [] };
const BOTH = { ...KEYED, ...READABLE, keyedForMs: KEYED.keyedForMs };

/** One attempt like this, and one of which only the reply was lost: in both orders. */
const inBothOrders = (
  one: Partial<AttemptNote>,
  other: Partial<AttemptNote> = {},
): readonly (readonly AttemptNote[])[] => [
  [attemptOf(1, one), attemptOf(2, other)],
  [attemptOf(1, other), attemptOf(2, one)],
];

const decided = (
  orders: readonly (readonly AttemptNote[])[],
  rest: Partial<Situation>,
): readonly Decision[] => orders.map((attempts) => decide(situation({ attempts, ...rest })));

type Row = readonly [string, Partial<AttemptNote>, Partial<Situation>, Decision];

describe("of two attempts in doubt", () => {
  test.each<Row>([
    ["one said yes, unverified", { unverified: true }, { powers: KEYED }, hold("unverified")],
    ["one was accepted", { accepted: true }, { powers: KEYED }, hold("in_progress")],
    [
      "one made operations inside it, and requests of its own",
      { innerOnly: false, wireRequests: 1 },
      { powers: KEYED },
      hold("partial"),
    ],
    [
      "one may have made requests of its own: how many is not known",
      { innerOnly: false },
      { powers: KEYED },
      hold("partial"),
    ],
    ["one is known from a lost record alone", { epoch: LOST_EPOCH }, {}, hold("store_lost")],
    ["one did not take the key", { tookKey: false }, { powers: KEYED }, hold("lost_reply")],
    [
      "one was fired before the tool was keyed",
      { declared: undefined },
      { powers: KEYED },
      hold("lost_reply"),
    ],
    [
      "one did not take the precondition",
      { tookPrecondition: false },
      { powers: CONDITIONAL },
      hold("lost_reply"),
    ],
    [
      "one was fired before the tool was conditional",
      { declared: undefined },
      { powers: CONDITIONAL },
      hold("lost_reply"),
    ],
    ["one was under another key", { generation: 1 }, { powers: KEYED }, hold("lost_reply")],
    ["one was answered, the other not", { status: 500 }, {}, hold("lost_reply")],
    [
      "one failed without a request, the other not",
      { failure: { type: "TypeError" }, wireRequests: 0 },
      {},
      hold("lost_reply"),
    ],
    [
      "one has no word of its end, and nothing may be fired",
      { verdict: undefined },
      { fireMode: "never" },
      hold("owner_lost"),
    ],
    [
      "one has no word of its end, and this call may fire",
      { verdict: undefined },
      {},
      hold("lost_reply"),
    ],
    [
      "one made operations inside an earlier call, the other may have sent",
      { innerOnly: true, epoch: 7 },
      {},
      hold("partial"),
    ],
  ])("%s: held", (_, one, rest, expected) => {
    expect(decided(inBothOrders(one), rest)).toEqual([expected, expected]);
  });

  test("an absence that is proved clears neither where one said yes", () => {
    const lastRead = looked("absent", 99_000);
    for (const [one, reason] of [
      [{ unverified: true }, "unverified"],
      [{ accepted: true }, "in_progress"],
    ] as const) {
      const all = decided(inBothOrders(one), { powers: READABLE, lastRead });
      expect(all).toEqual([hold(reason), hold(reason)]);
    }
  });

  test("an answer to one under this key: absent is not resent, only time proves", () => {
    const lastRead = looked("absent", 1_600);
    const all = decided(inBothOrders({ status: 500 }), { powers: BOTH, lastRead });
    expect(all).toEqual([
      { do: "read", notBefore: 4_500 },
      { do: "read", notBefore: 4_500 },
    ]);
  });

  test("an answer to an earlier key says nothing of this one", () => {
    const lastRead = looked("absent", 1_600);
    const answered = { status: 500, cleared: "absent", generation: 0 } as const;
    const attempts = [attemptOf(1, answered), attemptOf(2, { generation: 1 })];
    expect(decide(situation({ attempts, powers: BOTH, lastRead, generation: 1 }))).toEqual(
      KEYED_FIRE,
    );
  });

  test("that both carried what the service compares, both are resent", () => {
    for (const powers of [KEYED, CONDITIONAL])
      expect(decided(inBothOrders({}), { powers })).toEqual([KEYED_FIRE, KEYED_FIRE]);
  });

  test("a composite whose every request was an operation of its own may run again in a later call", () => {
    const inner = { innerOnly: true, epoch: 7 };
    expect(decided(inBothOrders(inner, inner), {})).toEqual([INNER_FIRE, INNER_FIRE]);
    for (const rest of [
      { firesLeft: 0 },
      { whyNotFire: "stopped" },
      { fireMode: "never" },
      { sameArguments: false },
    ] as const)
      expect(decided(inBothOrders(inner, inner), rest)).toEqual([hold("partial"), hold("partial")]);
    // An operation inside it was accepted, and is not done.
    const accepted = { ...inner, accepted: true };
    expect(decided(inBothOrders(inner, accepted), {})).toEqual([
      hold("in_progress"),
      hold("in_progress"),
    ]);
  });

  test("both were answered, or both failed before a request: that is told", () => {
    const both = (one: Partial<AttemptNote>) => decided(inBothOrders(one, one), {})[0];
    expect(both({ status: 500 })).toEqual(hold("unclear_answer"));
    expect(both({ failure: { answered: true } })).toEqual(hold("unclear_answer"));
    expect(both({ failure: { type: "TypeError" }, wireRequests: 0 })).toEqual(hold("run_failed"));
    expect(both({ failure: { type: "TypeError" }, wireRequests: 1 })).toEqual(hold("lost_reply"));
  });
});

describe("the last word", () => {
  test("was a no, after a doubt: nothing is resent, and that is told", () => {
    const attempts = [attemptOf(1), attemptOf(2, { verdict: "rejected", status: 422 })];
    for (const powers of [KEYED, CONDITIONAL, NOTHING])
      expect(decide(situation({ attempts, powers }))).toEqual(hold("rejected_in_doubt"));
  });

  test("a no before a doubt is not the last word", () => {
    const attempts = [attemptOf(1, { verdict: "rejected", status: 422 }), attemptOf(2)];
    expect(decide(situation({ attempts, powers: KEYED }))).toEqual(KEYED_FIRE);
    expect(decide(situation({ attempts }))).toEqual(hold("lost_reply"));
  });
});

describe("why nothing is resent, where several reasons hold", () => {
  test.each<readonly [string, Partial<Situation>, UnknownReason]>([
    [
      "without a key nor a precondition, other words and used up firings are no reason",
      { sameArguments: false, firesLeft: 0 },
      "lost_reply",
    ],
    [
      "where nothing may be fired, nor are they for a keyed tool",
      { powers: KEYED, fireMode: "never", sameArguments: false, firesLeft: 0 },
      "lost_reply",
    ],
    [
      "other words come before used up firings",
      { powers: CONDITIONAL, sameArguments: false, firesLeft: 0 },
      "reworded",
    ],
    ["used up firings of a conditional tool", { powers: CONDITIONAL, firesLeft: 0 }, "attempts"],
    [
      "a key that is spent is none of a tool without keys",
      { powers: CONDITIONAL, firesLeft: 0, keySpent: true },
      "attempts",
    ],
    [
      "a reader that could not tell, where the firings are used up",
      { powers: READABLE, firesLeft: 0, lastRead: looked("cannot_tell") },
      "cannot_tell",
    ],
  ])("%s", (_, rest, reason) => {
    expect(decide(situation(rest))).toEqual(hold(reason));
  });

  test("an attempt that still runs is waited for where nothing else helps", () => {
    expect(decide(situation({ awaitsRun: true }))).toEqual({ do: "await_run" });
    expect(decide(situation({ awaitsRun: true, powers: KEYED }))).toEqual(KEYED_FIRE);
  });
});

describe("right before it is sent, the licence by key is asked for once more", () => {
  test("what is cleared does not count, what is in doubt does", () => {
    const cleared = attemptOf(1, { cleared: "absent", tookKey: false });
    const attempts = [cleared, attemptOf(2)];
    expect(mayStillResend(situation({ attempts, powers: KEYED }))).toBe(true);
    const doubtful = [attemptOf(1, { tookKey: false }), attemptOf(2)];
    expect(mayStillResend(situation({ attempts: doubtful, powers: KEYED }))).toBe(false);
  });

  test.each<readonly [string, Partial<Situation>]>([
    ["used up firings", { firesLeft: 0 }],
    ["a lost lease", { whyNotFire: "lease_lost" }],
    ["a spent key", { keySpent: true }],
    ["a look that is not to fire", { fireMode: "never" }],
  ])("%s takes it away", (_, rest) => {
    expect(mayStillResend(situation({ powers: KEYED, ...rest }))).toBe(false);
  });
});
