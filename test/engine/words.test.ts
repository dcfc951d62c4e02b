/** The sentences about one outcome; what a model is told in whole calls is in `test/scenarios/words.test.ts`. */
import { describe, expect, test } from "vitest";
import { hintFor } from "../../src/engine/outcome/hints.ts";
import {
  deniedWords,
  heldWords,
  inProgressWords,
  notAppliedWords,
  unknownWords,
  whyNotApplied,
  whyUnknown,
} from "../../src/engine/outcome/words.ts";
import type { AttemptNote } from "../../src/ledger/record.ts";
import type { NotAppliedReason, UnknownReason } from "../../src/reasons.ts";

const noteOf = (n: number, rest: Partial<AttemptNote> = {}): AttemptNote => ({
  ...{ n, epoch: 1, generation: 0, licence: "first", at: 0 },
  ...rest,
});
const ANSWERED = { attempts: [noteOf(1, { status: 500, verdict: "unknown" })] };
const ANSWER = "The service answered 500.";

describe("why it is unknown", () => {
  /** Told by themselves: what the last attempt was answered is not why. */
  const OWN: readonly UnknownReason[] = [
    ...(["in_progress", "unverified", "partial", "reworded", "stopped"] as const),
    ...(["abandoned", "late_send", "owner_lost", "store_lost"] as const),
  ];

  test("no two reasons are told in the same words", () => {
    const all = [...OWN, "rejected_in_doubt" as const, "lost_reply" as const];
    expect(new Set(all.map((reason) => whyUnknown(ANSWERED, reason))).size).toBe(all.length);
  });

  test.each(OWN)("%s is told without the answer of an attempt", (reason) => {
    expect(whyUnknown(ANSWERED, reason)).not.toContain(ANSWER);
  });

  test.each(["lost_reply", "deadline", "attempts", "store_down"] as const)(
    "%s is told by the attempt that is in doubt",
    (reason) => {
      const attempts = [...ANSWERED.attempts, noteOf(2, { status: 503, verdict: "refused" })];
      expect(whyUnknown({ attempts }, reason)).toBe(ANSWER);
      expect(whyUnknown({ attempts: attempts.slice(1) }, reason)).toContain("503");
    },
  );

  test("a no after a doubt is told by that no", () => {
    const attempts = [...ANSWERED.attempts, noteOf(2, { status: 422, verdict: "rejected" })];
    expect(whyUnknown({ attempts }, "rejected_in_doubt")).toBe(
      "The service answered 422. An earlier attempt may have succeeded.",
    );
  });

  test("of a part that happened, an error of the tool is told, and none of an operation inside it", () => {
    const failed = { type: "TypeError", line: "no amount." };
    expect(whyUnknown(ANSWERED, "partial", failed)).toBe(
      "A part of it happened, or may have. The tool failed with TypeError: no amount.",
    );
    const inner = { type: "NotAppliedError", code: "ERR_HOLDFIRE_NOT_APPLIED" };
    for (const failure of [inner, undefined])
      expect(whyUnknown(ANSWERED, "partial", failure)).toBe("A part of it happened, or may have.");
  });
});

describe("what a model is told of it", () => {
  const told = { reason: "lost_reply", recorded: true, attempts: 1 } as const;

  test("who finds out, and that it is not to be called again", () => {
    const all = (["reconcile", "reader", "person"] as const).map((who) => unknownWords(told, who));
    expect(new Set(all).size).toBe(3);
    for (const words of all) expect(words).toMatch(/^No answer was seen\. .*Do not call again; /);
  });

  test("where nothing was sent and nothing is on record, the same call may be made again", () => {
    const none = { ...told, recorded: false, attempts: 0, because: "Nobody knows." };
    expect(unknownWords(none, "person")).toMatch(/^Nobody knows\. .*may be made again/);
    expect(unknownWords({ ...none, attempts: 1 }, "person")).toContain("Do not call again");
    expect(unknownWords({ ...none, recorded: true }, "person")).toContain("Do not call again");
  });

  test("of one that a person gave up, nobody is said to check it", () => {
    const words = unknownWords({ ...told, reason: "abandoned" }, "person");
    expect(words).toContain("It is not sent again. Do not call again.");
    expect(words).not.toContain("check");
  });

  test("of a part that happened, that the rest may have, too", () => {
    expect(unknownWords({ ...told, reason: "partial" }, "person")).toContain("The rest may have");
    expect(unknownWords(told, "person")).toContain("It may have happened.");
  });

  test("one that runs on is told apart from one that the service has accepted", () => {
    expect(inProgressWords({ reason: "still_running" })).toContain("still running");
    expect(inProgressWords({})).toContain("still in progress");
  });

  test("who said no, and what a call waits for", () => {
    expect(deniedWords({ by: "ana" })).toContain("A person said no.");
    expect(deniedWords({ by: "onDrift" })).not.toContain("person");
    const held = (["lane", "drift", "approval"] as const).map((reason) => heldWords({ reason }));
    expect(new Set(held).size).toBe(3);
    for (const words of held) expect(words).toMatch(/^Nothing was sent.*Do not call again/);
  });
});

describe("why it was not applied", () => {
  test("no two reasons are told in the same words", () => {
    const all: readonly NotAppliedReason[] = [
      ...(["rejected", "refused", "not_sent", "unanswered"] as const),
      ...(["absent", "resolved", "aborted", "expired"] as const),
    ];
    expect(new Set(all.map((reason) => whyNotApplied({ reason }))).size).toBe(all.length);
  });

  test.each([
    [{ status: 402, code: "card_declined" }, undefined, "The service said no (402 card_declined)."],
    [{ status: 402 }, undefined, "The service said no (402)."],
    [undefined, undefined, "The service said no."],
    [
      { status: 402 },
      { said: 'No "funds"' },
      "The service said no (402). It said: \"No 'funds'\".",
    ],
    [
      undefined,
      { type: "Error", line: "no" },
      "The service said no. The tool failed with Error: no.",
    ],
    [
      undefined,
      { byTool: true, line: "sold out" } as const,
      'The tool says that it was not applied: "sold out"',
    ],
    [undefined, { byTool: true } as const, "The tool says that it was not applied."],
  ])("a no: %j %j", (rejection, failure, words) => {
    expect(whyNotApplied({ reason: "rejected", rejection }, undefined, failure)).toBe(words);
  });

  test("a refusal is told with its status and the words of the service, where there are any", () => {
    const reason = "refused";
    expect(whyNotApplied({ reason })).toBe("The service refused it for now.");
    expect(whyNotApplied({ reason, answered: 503 })).toBe("The service answered 503: not now.");
    const said = whyNotApplied({ reason, answered: 429 }, undefined, { said: "Later" });
    expect(said).toBe('The service answered 429: not now. It said: "Later".');
  });

  test.each([
    [{}, undefined, "It was not sent."],
    [{}, { type: "TypeError", line: "fetch failed" }, "It was not sent: TypeError: fetch failed."],
    [
      { innerOnly: true },
      undefined,
      "An operation inside it was not applied, and nothing else was sent.",
    ],
    [
      { innerOnly: false },
      undefined,
      "An operation inside it was not applied. What else it did, if anything, was not seen.",
    ],
    [
      { declared: { enlisted: true } },
      undefined,
      "Its transaction cannot be committed. Nothing happened.",
    ],
    [
      { declared: { enlisted: true } },
      { type: "Error" },
      "Its transaction cannot be committed (Error). Nothing happened.",
    ],
  ])("not sent: %j %j", (attempt, failure, words) => {
    const note = attempt as Partial<AttemptNote>;
    expect(whyNotApplied({ reason: "not_sent" }, note, failure)).toBe(words);
  });

  test("a model is told what follows from it, of a write", () => {
    const rejected = { reason: "rejected", because: "It said no." } as const;
    expect(notAppliedWords(rejected)).toContain("The same call gets the same answer.");
    expect(notAppliedWords(rejected, true)).toBe("It said no.");
    for (const reason of ["refused", "absent"] as const)
      expect(notAppliedWords({ reason })).toMatch(/ Nothing happened\.$/);
    expect(notAppliedWords({ reason: "aborted" })).toBe(whyNotApplied({ reason: "aborted" }));
  });
});

describe("what would let holdfire decide next time", () => {
  test("a reply that was lost and an answer that is unclear can be looked up, a bug not", () => {
    const hint = (reason: UnknownReason) => hintFor(ANSWERED, reason);
    for (const reason of ["unclear_answer", "lost_reply"] as const)
      expect(hint(reason)).toContain("Declare readState");
    expect(hint("run_failed")).not.toContain("readState");
    const reasons = [
      "lost_reply",
      "run_failed",
      "absent_unproven",
      "key_unused",
      "abandoned",
    ] as const;
    const others = ["reader_blind", "deadline"] as const;
    const hints = [...reasons, ...others].map(hint);
    expect(new Set(hints).size).toBe(hints.length);
    expect(hint("run_failed")).toContain("notApplied(why)");
  });
});
