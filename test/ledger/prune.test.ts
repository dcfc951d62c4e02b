import { describe, expect, test } from "vitest";
import { pruneAs, wipePayloads } from "../../src/ledger/prune.ts";
import { isOpen, type OperationRecord } from "../../src/ledger/record.ts";
import { EVERY_STATE, evidenceOf, recordOf } from "../../src/testing/record-of.ts";

const payload = { form: "json", text: '"secret"' } as const;
const first = { n: 1, epoch: 1, generation: 0, licence: "first", at: 0 } as const;
const NOW = 1_000;
const BOTH = { tenant: "acme", payloadsOlderThanMs: 100, tombstonesOlderThanMs: 500 };

const settled = (overrides: Partial<OperationRecord> = {}): OperationRecord =>
  recordOf({ state: { tag: "committed", via: "reply", payload }, intent: undefined, ...overrides });

describe("age", () => {
  test.each(EVERY_STATE)("takes $tag only when it is settled", (state) => {
    const fate = pruneAs(recordOf({ state, stateAt: 0 }), BOTH, NOW);
    expect(fate).toBe(isOpen(state) ? "keep" : "remove");
  });

  test("takes the payloads first, then the record, each after its time", () => {
    expect(pruneAs(settled({ stateAt: NOW - 100 }), BOTH, NOW)).toBe("keep");
    expect(pruneAs(settled({ stateAt: NOW - 101 }), BOTH, NOW)).toBe("wipe");
    expect(pruneAs(settled({ stateAt: NOW - 500 }), BOTH, NOW)).toBe("wipe");
    expect(pruneAs(settled({ stateAt: NOW - 501 }), BOTH, NOW)).toBe("remove");
  });

  test("takes nothing that was not asked for, nor for an age that is no number", () => {
    expect(pruneAs(settled(), { tenant: "acme" }, NOW)).toBe("keep");
    const ages = { payloadsOlderThanMs: Number.NaN, tombstonesOlderThanMs: Number.NaN };
    expect(pruneAs(settled(), { tenant: "acme", ...ages }, NOW)).toBe("keep");
  });

  test("takes nothing from the future for an age below zero", () => {
    const ages = { payloadsOlderThanMs: -1e9, tombstonesOlderThanMs: -1e9 };
    expect(pruneAs(settled({ stateAt: NOW }), { tenant: "acme", ...ages }, NOW)).toBe("keep");
  });

  test.each([
    ["a result", settled()],
    [
      "late evidence",
      settled({ state: { tag: "denied", by: "ana" }, evidence: [evidenceOf({ payload })] }),
    ],
    ["a precondition", settled({ state: { tag: "denied", by: "ana" }, precondition: payload })],
    ["an intent", settled({ state: { tag: "denied", by: "ana" }, intent: payload })],
    [
      "the text of an error, among attempts without one",
      settled({
        state: { tag: "not_applied", reason: "rejected" },
        attempts: [first, { ...first, n: 2, failure: { code: "declined", text: payload } }],
      }),
    ],
  ])("wipes %s once, and finds nothing more to wipe", (_, record) => {
    const query = { tenant: "acme", payloadsOlderThanMs: 0 };
    expect(pruneAs(record, query, NOW)).toBe("wipe");
    const wiped = wipePayloads(record);
    expect(JSON.stringify(wiped)).not.toContain("secret");
    expect(pruneAs(wiped, query, NOW)).toBe("keep");
  });

  test("wipes no more of an error than its text", () => {
    const failure = { type: "Error", code: "declined" };
    const attempts = [first, { ...first, n: 2, failure: { ...failure, text: payload } }];
    expect(wipePayloads(settled({ attempts })).attempts).toEqual([
      first,
      { ...first, n: 2, failure },
    ]);
  });
});
