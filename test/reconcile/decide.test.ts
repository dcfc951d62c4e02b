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
} from "../engine/situation.ts";

type Row = readonly [string, Partial<Situation>, Decision];

const hold = (reason: Extract<Decision, { do: "leave_unknown" }>["reason"]): Decision => ({
  do: "leave_unknown",
  reason,
});
const BOTH = { ...READABLE, keyedForMs: KEYED.keyedForMs };
const PROVEN = looked("absent", 99_000);

describe("an execution that never fires", () => {
  test.each<Row>([
    ["resends nothing by key", { powers: KEYED }, hold("lost_reply")],
    ["resends nothing by precondition", { powers: CONDITIONAL }, hold("lost_reply")],
    [
      "says that the owner is gone if nobody judged the attempt",
      { powers: KEYED, attempts: [attemptOf(1, { verdict: undefined })] },
      hold("owner_lost"),
    ],
    [
      "gives up what is proven absent",
      { powers: READABLE, lastRead: PROVEN },
      giveUp("absent", [1]),
    ],
    [
      "gives up what was never sent",
      { attempts: [attemptOf(1, { verdict: "not_sent" })] },
      giveUp("not_sent"),
    ],
    [
      "does not run a composite again",
      { attempts: [attemptOf(1, { innerOnly: true, epoch: 0 })] },
      hold("partial"),
    ],
    [
      "does not blame arguments or attempts",
      {
        powers: BOTH,
        lastRead: looked("cannot_tell"),
        sameArguments: false,
        firesLeft: 0,
      },
      hold("cannot_tell"),
    ],
    [
      "says that an absence is no proof",
      { powers: { ...BOTH, commitsWithinMs: undefined }, lastRead: PROVEN },
      hold("absent_unproven"),
    ],
    ["commits what was found", { powers: READABLE, lastRead: looked("committed") }, commit()],
    ["says that the key has expired", { powers: KEYED, now: 9e9 }, hold("key_expired")],
  ])("%s", (_, given, expected) => {
    expect(decide(situation({ ...given, fireMode: "never" }))).toEqual(expected);
  });
});

describe("an execution that fires by key alone", () => {
  test.each<Row>([
    ["resends by key", { powers: KEYED }, { do: "fire", licence: "keyed", clears: [] }],
    ["not with other arguments", { powers: KEYED, sameArguments: false }, hold("reworded")],
    [
      "does not fire after a proven absence",
      { powers: BOTH, lastRead: PROVEN },
      giveUp("absent", [1]),
    ],
    [
      "does not fire what was refused",
      { powers: KEYED, attempts: [attemptOf(1, { verdict: "refused" })] },
      giveUp("refused"),
    ],
    [
      "does not run a composite again",
      { powers: NOTHING, attempts: [attemptOf(1, { innerOnly: true, epoch: 0 })] },
      hold("partial"),
    ],
  ])("%s", (_, given, expected) => {
    expect(decide(situation({ ...given, fireMode: "by_key" }))).toEqual(expected);
  });
});

function commit(): Decision {
  return { do: "commit", attempt: undefined };
}

function giveUp(
  reason: Extract<Decision, { do: "not_applied" }>["reason"],
  clears: readonly number[] = [],
): Decision {
  return { do: "not_applied", reason, clears };
}
