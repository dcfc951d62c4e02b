import { beforeEach, describe, expect, test } from "vitest";
import type { Operation } from "../../src/engine/operation/operation.ts";
import { isSameUnderWay } from "../../src/engine/same-intent.ts";
import { claimOf } from "../../src/testing/record-of.ts";
import { engineOf, operationOf, type TestEngine } from "./engine-of.ts";

const LEASE_MS = 5_000;
const TEA = { item: "tea" };

let engine: TestEngine;

beforeEach(async () => {
  engine = engineOf();
  await engine.ledger.open();
});

const called = (scope: string, args: object = TEA, definition: object = {}): Operation =>
  operationOf(engine, definition, args, { scope });

/** Another process owns it, and is at it. */
async function claim({ ref, draft }: Operation): Promise<void> {
  const move = claimOf({ draft, holder: "other", leaseMs: LEASE_MS, at: engine.clock.now() });
  await engine.ledger.move(ref, move);
}

describe("another operation of the same intent is under way", () => {
  test("while the lease of its owner lasts, and no longer", async () => {
    await claim(called("a"));
    expect(await isSameUnderWay(called("b"), engine)).toBe(true);
    await engine.clock.advance(LEASE_MS - 1);
    expect(await isSameUnderWay(called("b"), engine)).toBe(true);
    await engine.clock.advance(1_000);
    expect(await isSameUnderWay(called("b"), engine)).toBe(false);
  });

  test("the order of its arguments makes no other intent", async () => {
    await claim(called("a", { item: "tea", size: 1 }));
    expect(await isSameUnderWay(called("b", { size: 1, item: "tea" }), engine)).toBe(true);
  });

  test.each([
    ["of the operation itself", () => called("a")],
    ["of other arguments", () => called("b", { item: "milk" })],
    ["of another tool", () => called("b", TEA, { name: "buy" })],
  ])("not by a claim %s", async (_, operation) => {
    await claim(called("a"));
    expect(await isSameUnderWay(operation(), engine)).toBe(false);
  });

  test("on whichever page it is", async () => {
    for (let n = 0; n < 150; n += 1) await claim(called("a", { n }));
    expect(await isSameUnderWay(called("b", { n: 149 }), engine)).toBe(true);
    expect(await isSameUnderWay(called("b", { n: 150 }), engine)).toBe(false);
  });

  test("of more than can be looked through, one may be the same", async () => {
    for (let n = 0; n <= 1_000; n += 1) await claim(called("a", { n }));
    expect(await isSameUnderWay(called("b"), engine)).toBe(true);
  });

  test("an intent that cannot be read here is not taken for the same", async () => {
    await claim(called("a"));
    const decode = () => ({ ok: false, why: "another key" }) as never;
    const sealed = { ...engine, codec: { ...engine.codec, decode } };
    expect(await isSameUnderWay(called("b"), sealed)).toBe(false);
  });
});
