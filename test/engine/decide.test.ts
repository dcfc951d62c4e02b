import { describe, expect, test } from "vitest";
import { type Decision, decide, type Situation } from "../../src/engine/steps/parts/decide.ts";
import {
  attemptOf,
  CONDITIONAL,
  KEYED,
  looked,
  NOTHING,
  READABLE,
  situation,
} from "./situation.ts";

type Row = readonly [string, Partial<Situation>, Decision];

const hold = (reason: Extract<Decision, { do: "leave_unknown" }>["reason"]): Decision => ({
  do: "leave_unknown",
  reason,
});
const fire = (
  licence: "not_sent" | "refused" | "absent" | "keyed",
  clears: readonly number[] = [],
): Decision => ({
  do: "fire",
  licence,
  clears,
});
const giveUp = (
  reason: Extract<Decision, { do: "not_applied" }>["reason"],
  clears: readonly number[] = [],
): Decision => ({ do: "not_applied", reason, clears });

const BOTH = { ...KEYED, ...READABLE, keyedForMs: KEYED.keyedForMs };

describe("a commit that is known", () => {
  test.each<Row>([
    [
      "by its reply is the end, whatever else is open",
      { attempts: [attemptOf(1), attemptOf(2, { verdict: "committed" })] },
      { do: "commit", attempt: 2 },
    ],
    [
      "by its reply beats a look that says absent",
      {
        powers: READABLE,
        attempts: [attemptOf(1, { verdict: "committed" })],
        lastRead: looked("absent", 99_000),
      },
      { do: "commit", attempt: 1 },
    ],
    [
      "by a look is the end",
      { powers: READABLE, lastRead: looked("committed") },
      { do: "commit", attempt: undefined },
    ],
    [
      "more than once is a commit too",
      { powers: READABLE, lastRead: looked("duplicated") },
      { do: "commit", attempt: undefined },
    ],
    [
      "by a look is one even if nothing may be fired",
      { powers: READABLE, lastRead: looked("committed"), whyNotFire: "lease_lost", firesLeft: 0 },
      { do: "commit", attempt: undefined },
    ],
  ])("%s", (_, given, expected) => {
    expect(decide(situation(given))).toEqual(expected);
  });
});

const unsent = (n: number) => attemptOf(n, { verdict: "not_sent", proven: true });

describe("no doubt", () => {
  test.each<Row>([
    ["not sent, for certain: not_sent", { attempts: [unsent(1)] }, fire("not_sent")],
    [
      "not sent, as far as it was seen",
      { attempts: [attemptOf(1, { verdict: "not_sent" })] },
      giveUp("not_sent"),
    ],
    ["refused: refused", { attempts: [attemptOf(1, { verdict: "refused" })] }, fire("refused")],
    [
      "cleared by a read before: absent",
      { attempts: [attemptOf(1, { cleared: "absent" })] },
      fire("absent"),
    ],
    [
      "rejected is never fired again",
      { attempts: [attemptOf(1, { verdict: "rejected" })] },
      giveUp("rejected"),
    ],
    [
      "cleared by a person is for the next call",
      { attempts: [attemptOf(1, { cleared: "person" })] },
      giveUp("resolved"),
    ],
    ["nothing noted at all", { attempts: [] }, fire("not_sent")],
    [
      "the last attempt gives the reason",
      { attempts: [attemptOf(1, { verdict: "refused" }), unsent(2)] },
      fire("not_sent"),
    ],
    [
      "no firings left",
      { attempts: [attemptOf(1, { verdict: "refused" })], firesLeft: 0 },
      giveUp("refused"),
    ],
    ["other arguments", { attempts: [unsent(1)], sameArguments: false }, giveUp("not_sent")],
    ["nobody waits", { attempts: [unsent(1)], whyNotFire: "stopped" }, giveUp("not_sent")],
    [
      "an inner failure in this very call",
      { attempts: [attemptOf(1, { verdict: "not_sent", innerOnly: true })] },
      giveUp("not_sent"),
    ],
    [
      "an inner failure in an earlier call",
      { attempts: [attemptOf(1, { verdict: "not_sent", innerOnly: true })], epoch: 2 },
      fire("not_sent"),
    ],
  ])("%s", (_, given, expected) => {
    expect(decide(situation(given))).toEqual(expected);
  });
});

describe("a doubt, and a reader (absent)", () => {
  const absentAt = (beganAt: number) => ({ powers: READABLE, lastRead: looked("absent", beganAt) });

  test.each<Row>([
    ["absent before the window has passed: look again then", absentAt(3_499), lookAt(3_500)],
    ["absent on the very end of the window is too early", absentAt(3_500), lookAt(3_500)],
    ["absent after it clears the doubt", absentAt(3_501), fire("absent", [1])],
    [
      "in progress: look again in a while",
      { powers: READABLE, lastRead: looked("in_progress") },
      lookAt(),
    ],
    [
      "cannot tell: hold",
      { powers: READABLE, lastRead: looked("cannot_tell") },
      hold("cannot_tell"),
    ],
    [
      "cannot tell yet: look again in a while",
      { powers: READABLE, lastRead: { ...looked("cannot_tell"), again: true } },
      lookAt(),
    ],
    ["not looked yet: hold", { powers: READABLE }, hold("cannot_tell")],
    [
      "absent without a window proves nothing",
      { powers: { ...READABLE, commitsWithinMs: undefined }, lastRead: looked("absent", 99_000) },
      hold("absent_unproven"),
    ],
    [
      "a window of zero is a window",
      { powers: { ...READABLE, commitsWithinMs: 0 }, lastRead: looked("absent", 1_501) },
      fire("absent", [1]),
    ],
    [
      "a blind reader proves nothing",
      { powers: { ...READABLE, readerBlind: true }, lastRead: looked("absent", 99_000) },
      hold("reader_blind"),
    ],
    [
      "an attempt that has not ended has no window yet",
      { ...absentAt(99_000), attempts: [attemptOf(1, { endedAt: undefined })] },
      lookAt(),
    ],
    [
      "one of a dead owner ended with its lease at the latest",
      { ...absentAt(7_001), attempts: [attemptOf(1, { endedAt: undefined, endsBy: 5_000 })] },
      fire("absent", [1]),
    ],
    [
      "when it is known how it ended, the lease says nothing",
      { ...absentAt(3_501), attempts: [attemptOf(1, { endsBy: 50_000 })] },
      fire("absent", [1]),
    ],
    [
      "the last to end counts for all of them",
      { ...absentAt(3_501), attempts: [attemptOf(1), attemptOf(2)] },
      lookAt(4_500),
    ],
    [
      "past it, all of them are cleared",
      { ...absentAt(4_501), attempts: [attemptOf(1), attemptOf(2)] },
      fire("absent", [1, 2]),
    ],
    [
      "a cleared one sets no window",
      { ...absentAt(3_501), attempts: [attemptOf(1), unsent(2)] },
      fire("not_sent", [1]),
    ],
    [
      "proven absent, and no firings left: certain, and said so",
      { ...absentAt(3_501), firesLeft: 0 },
      giveUp("absent", [1]),
    ],
    [
      "proven absent, and the last word was a no: rejected",
      { ...absentAt(9_999), attempts: [attemptOf(1), attemptOf(2, { verdict: "rejected" })] },
      giveUp("rejected", [1]),
    ],
  ])("%s", (_, given, expected) => {
    expect(decide(situation(given))).toEqual(expected);
  });
});

function lookAt(notBefore?: number): Decision {
  return { do: "read", notBefore };
}

describe("a doubt, and a key or a precondition (keyed)", () => {
  test.each<Row>([
    ["keyed", { powers: KEYED }, fire("keyed")],
    ["conditional", { powers: CONDITIONAL }, fire("keyed")],
    [
      "absent, and the key has not answered",
      { powers: BOTH, lastRead: looked("absent") },
      fire("keyed"),
    ],
    [
      "absent, and the key has answered: only time proves",
      { powers: BOTH, attempts: [attemptOf(1, { status: 500 })], lastRead: looked("absent") },
      lookAt(3_500),
    ],
    ["cannot tell", { powers: BOTH, lastRead: looked("cannot_tell") }, fire("keyed")],
    [
      "cannot tell yet: the service can",
      { powers: BOTH, lastRead: { ...looked("cannot_tell"), again: true } },
      fire("keyed"),
    ],
    ["in progress is waited for", { powers: BOTH, lastRead: looked("in_progress") }, lookAt()],
    ["no firings left", { powers: KEYED, firesLeft: 0 }, hold("attempts")],
    ["other arguments", { powers: KEYED, sameArguments: false }, hold("reworded")],
    ["nobody waits", { powers: KEYED, whyNotFire: "stopped" }, hold("stopped")],
    ["the lease is lost", { powers: KEYED, whyNotFire: "lease_lost" }, hold("lease_lost")],
    ["the store is down", { powers: KEYED, whyNotFire: "store_down" }, hold("store_down")],
    ["the tool never takes its key", { powers: { ...KEYED, keyUnused: true } }, hold("key_unused")],
    ["the key is spent", { powers: KEYED, keySpent: true }, hold("key_spent")],
    [
      "a run that did not take the key",
      { powers: KEYED, attempts: [attemptOf(1, { tookKey: false })] },
      hold("lost_reply"),
    ],
    [
      "of two, one did not take the key",
      { powers: KEYED, attempts: [attemptOf(1, { tookKey: false }), attemptOf(2)] },
      hold("lost_reply"),
    ],
    [
      "a precondition that was not taken",
      { powers: CONDITIONAL, attempts: [attemptOf(1, { tookPrecondition: false })] },
      hold("lost_reply"),
    ],
    [
      "a precondition that is in the arguments needs no taking",
      {
        powers: { ...CONDITIONAL, precondition: "given" },
        attempts: [attemptOf(1, { tookPrecondition: false })],
      },
      fire("keyed"),
    ],
    [
      "a key that was declared only after the send",
      { powers: KEYED, attempts: [attemptOf(1, { declared: {} })] },
      hold("lost_reply"),
    ],
    [
      "a precondition that was declared only after the send",
      { powers: CONDITIONAL, attempts: [attemptOf(1, { declared: { keyed: true } })] },
      hold("lost_reply"),
    ],
    [
      "keyed and conditional, and only one of them was carried",
      {
        powers: { ...KEYED, conditional: true },
        attempts: [attemptOf(1, { tookKey: false }), attemptOf(2, { tookPrecondition: true })],
      },
      fire("keyed"),
    ],
    [
      "a doubt about an earlier generation",
      { powers: KEYED, generation: 1, attempts: [attemptOf(1), attemptOf(2, { generation: 1 })] },
      hold("lost_reply"),
    ],
    [
      "the last millisecond of the window: 95 % less one attempt after the first send",
      { powers: { ...KEYED, keyedForMs: 100_000 }, now: 1_000 + 95_000 - 10_000 },
      fire("keyed"),
    ],
    [
      "one millisecond later",
      { powers: { ...KEYED, keyedForMs: 100_000 }, now: 1_000 + 95_000 - 10_000 + 1 },
      hold("key_expired"),
    ],
    [
      "the window counts from the first send of this key",
      {
        powers: { ...KEYED, keyedForMs: 100_000 },
        attempts: [attemptOf(1, { verdict: "refused" }), attemptOf(50)],
        now: 90_000,
      },
      hold("key_expired"),
    ],
    [
      "a new generation has a window of its own",
      {
        powers: { ...KEYED, keyedForMs: 100_000 },
        generation: 1,
        attempts: [attemptOf(1, { verdict: "rejected" }), attemptOf(50, { generation: 1 })],
        now: 90_000,
      },
      fire("keyed"),
    ],
    [
      "a key for ever",
      { powers: { ...KEYED, keyedForMs: Number.POSITIVE_INFINITY }, now: 1e12 },
      fire("keyed"),
    ],
  ])("%s", (_, given, expected) => {
    expect(decide(situation(given))).toEqual(expected);
  });
});

describe("doubt is sticky", () => {
  test.each<Row>([
    ["no reader, no key", { powers: NOTHING }, hold("lost_reply")],
    [
      "a no after a doubt is for readers and people",
      { powers: KEYED, attempts: [attemptOf(1), attemptOf(2, { verdict: "rejected" })] },
      hold("rejected_in_doubt"),
    ],
    [
      "not even a precondition resends after it",
      { powers: CONDITIONAL, attempts: [attemptOf(1), attemptOf(2, { verdict: "rejected" })] },
      hold("rejected_in_doubt"),
    ],
    [
      "a refusal after a doubt clears only itself",
      { attempts: [attemptOf(1), attemptOf(2, { verdict: "refused" })] },
      hold("lost_reply"),
    ],
    [
      "a yes that was not verified is not sent again, keyed or not",
      { powers: KEYED, attempts: [attemptOf(1, { unverified: true })] },
      hold("unverified"),
    ],
    [
      "not even when it is proven absent",
      {
        powers: READABLE,
        attempts: [attemptOf(1, { unverified: true })],
        lastRead: looked("absent", 99_000),
      },
      hold("unverified"),
    ],
    [
      "but it is looked at until the window has passed",
      {
        powers: READABLE,
        attempts: [attemptOf(1, { unverified: true })],
        lastRead: looked("absent", 1_600),
      },
      lookAt(3_500),
    ],
    [
      "what was accepted and is not done is not sent again, keyed or not",
      { powers: KEYED, attempts: [attemptOf(1, { accepted: true, status: 202 })] },
      hold("in_progress"),
    ],
    [
      "not even when it is proven absent",
      {
        powers: READABLE,
        attempts: [attemptOf(1, { accepted: true, status: 202 })],
        lastRead: looked("absent", 99_000),
      },
      hold("in_progress"),
    ],
    [
      "a keyed composite with a request of its own is not resent",
      { powers: KEYED, attempts: [attemptOf(1, { innerOnly: false })] },
      hold("partial"),
    ],
    [
      "an attempt with no word of its end is a doubt",
      { attempts: [attemptOf(1, { verdict: undefined, endedAt: undefined })] },
      hold("lost_reply"),
    ],
    [
      "half of a composite in this very call",
      { attempts: [attemptOf(1, { innerOnly: true })] },
      hold("partial"),
    ],
    [
      "all of a composite's requests were inner ones: a later call runs it again",
      { attempts: [attemptOf(1, { innerOnly: true })], epoch: 2 },
      fire("not_sent"),
    ],
    [
      "one of its own requests is enough to hold",
      { attempts: [attemptOf(1, { innerOnly: false })], epoch: 2 },
      hold("partial"),
    ],
    [
      "a composite with other arguments is not run again",
      { attempts: [attemptOf(1, { innerOnly: true })], epoch: 2, sameArguments: false },
      hold("partial"),
    ],
  ])("%s", (_, given, expected) => {
    expect(decide(situation(given))).toEqual(expected);
  });
});
