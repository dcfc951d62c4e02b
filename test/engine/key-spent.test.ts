import { describe, expect, test } from "vitest";
import { situationOf } from "../../src/engine/steps/parts/situation.ts";
import type { AttemptUpdate } from "../../src/ledger/record.ts";
import { ownerOf } from "./owner-of.ts";

type Ended = Partial<AttemptUpdate>;

/** Whether the key counts as spent after attempts that ended like these. */
async function isSpent(...ends: readonly Ended[]): Promise<boolean> {
  const { owned, engine, fire } = await ownerOf();
  for (const ended of ends) await fire({ verdict: "unknown", ...ended });
  return situationOf(owned, engine).keySpent;
}

describe("a key is spent once the service has given it the same failure again", () => {
  test.each<readonly [string, readonly Ended[]]>([
    ["the same status twice", [{ status: 500 }, { status: 500 }]],
    [
      "the same status twice, with another between",
      [{ status: 500 }, { status: 502 }, { status: 500 }],
    ],
    ["a failure that the service says it has stored, at once", [{ status: 500, replayed: true }]],
    ["such a one after a lost reply", [{}, { status: 409, replayed: true }]],
  ])("%s", async (_, ends) => {
    expect(await isSpent(...ends)).toBe(true);
  });

  test.each<readonly [string, readonly Ended[]]>([
    ["nothing was fired", []],
    ["one failure", [{ status: 500 }]],
    ["two failures that differ", [{ status: 500 }, { status: 502 }]],
    ["two replies that were lost", [{}, {}]],
    ["a stored answer that is no failure", [{ status: 200, replayed: true }]],
    ["a status that no service stores, twice", [{ status: 503 }, { status: 503 }]],
    [
      "two refusals",
      [
        { status: 500, verdict: "refused" },
        { status: 500, verdict: "refused" },
      ],
    ],
  ])("not by this: %s", async (_, ends) => {
    expect(await isSpent(...ends)).toBe(false);
  });

  test("a redirect counts as a failure: 300 is the first status that does", async () => {
    expect(await isSpent({ status: 300, replayed: true })).toBe(true);
    expect(await isSpent({ status: 299, replayed: true })).toBe(false);
  });

  test("what was answered to an earlier key says nothing of this one", async () => {
    const { owned, engine, fire } = await ownerOf();
    await fire({ verdict: "unknown", status: 500, replayed: true });
    const { stored } = owned;
    const next = { ...stored, record: { ...stored.record, generation: 1 } };
    expect(situationOf({ ...owned, stored: next }, engine).keySpent).toBe(false);
    expect(situationOf(owned, engine).keySpent).toBe(true);
  });
});
