/** What becomes known of an attempt is added to its note, whatever it is. */
import { describe, expect, test } from "vitest";
import { withKnown } from "../../../src/ledger/moves/attempt-edits.ts";
import type { AttemptNote, AttemptUpdate } from "../../../src/ledger/record.ts";

const NOTE: AttemptNote = { n: 1, epoch: 1, generation: 0, licence: "first", at: 1_000 };

/** One of each. What says that an attempt was never fired removes its note, and adds nothing to it. */
const LEARNED: Required<Omit<AttemptUpdate, "n" | "neverFired">> = {
  endedAt: 2_000,
  endsBy: 3_000,
  verdict: "unknown",
  proven: true,
  status: 503,
  failure: { type: "Error" },
  declared: { keyed: true },
  tookKey: false,
  tookPrecondition: false,
  replayed: true,
  wireRequests: 2,
  unverified: true,
  accepted: true,
  unvetoable: true,
  innerOnly: false,
  cleared: "absent",
};

describe("what is known of an attempt", () => {
  test.each(Object.entries(LEARNED))("has %s, learned alone", (field, value) => {
    expect(withKnown(NOTE, { n: 1, [field]: value })).toMatchObject({ ...NOTE, [field]: value });
  });

  test.each(Object.entries(LEARNED))("keeps %s when something else is learned", (field, value) => {
    const known = { ...NOTE, [field]: value };
    const other: AttemptUpdate = field === "wireRequests" ? { n: 1 } : { n: 1, wireRequests: 7 };
    expect(withKnown(known, other)).toMatchObject({ ...known, ...other });
  });

  test("has no time by which it ends at the latest once it has ended", () => {
    const known = withKnown({ ...NOTE, endsBy: 3_000 }, { n: 1, endedAt: 2_000 });
    expect([known.endsBy, known.endedAt]).toEqual([undefined, 2_000]);
  });
});
