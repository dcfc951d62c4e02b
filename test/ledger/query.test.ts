import { describe, expect, test } from "vitest";
import { matches, pageLimit, pageOf, pruneLimit, rowOf } from "../../src/ledger/query.ts";
import { recordOf } from "../../src/testing/record-of.ts";

describe("a query", () => {
  const record = recordOf({ stateAt: 100, resource: "payment/p1" });

  test.each([
    [{}, true],
    [{ states: ["claimed", "held"] as const }, true],
    [{ states: ["held"] as const }, false],
    [{ states: [] }, false],
    [{ tool: "refund_payment" }, true],
    [{ tool: "refund" }, false],
    [{ scope: "conversation-7/turn-3" }, true],
    [{ scope: "conversation-7" }, false],
    [{ resource: "payment/p1" }, true],
    [{ resource: "payment/p2" }, false],
    [{ since: 100 }, true],
    [{ since: 101 }, false],
    [{ until: 101 }, true],
    [{ until: 100 }, false],
    [{ tool: "refund_payment", since: 101 }, false],
  ])("%j finds the record: %s", (query, found) => {
    expect(matches(record, { tenant: "acme", ...query })).toBe(found);
  });

  test("for a resource does not find a record without one", () => {
    expect(matches(recordOf(), { tenant: "acme", resource: "undefined" })).toBe(false);
  });
});

describe("a limit", () => {
  test.each([
    [undefined, 100],
    [Number.NaN, 100],
    [0, 1],
    [-7, 1],
    [2.9, 2],
    [1_000, 1_000],
    [1e9, 1_000],
    [Number.POSITIVE_INFINITY, 1_000],
  ])("of %s gives pages of %i", (limit, size) => {
    expect(pageLimit(limit)).toBe(size);
  });

  test("left out lets a pruning touch a thousand records", () => {
    expect(pruneLimit(undefined)).toBe(1_000);
    expect(pruneLimit(5)).toBe(5);
  });
});

describe("a page", () => {
  const stored = { record: recordOf(), version: 1, leaseUntil: undefined };
  const readable = rowOf("a", () => stored);
  const damaged = rowOf("b", () => {
    throw new Error("damaged");
  });

  test("has the records that can be read, and the ids of those that cannot", () => {
    expect(pageOf([readable, damaged, readable])).toStrictEqual({
      items: [stored, stored],
      unreadable: ["b"],
    });
  });

  test("says nothing of damage where there is none, and where the next one starts", () => {
    expect(pageOf([readable])).toStrictEqual({ items: [stored] });
    expect(pageOf([], "17")).toStrictEqual({ items: [], cursor: "17" });
  });
});
