import { beforeEach, describe, expect, test } from "vitest";
import type { Operation } from "../../src/engine/operation/operation.ts";
import { isSameUnderWay } from "../../src/engine/same-intent.ts";
import { claimOf, evidenceOf } from "../../src/testing/record-of.ts";
import { engineOf, executionOf, operationOf, type TestEngine } from "./engine-of.ts";

const LEASE_MS = 5_000;
const TEA = { item: "tea" };

let engine: TestEngine;

beforeEach(async () => {
  engine = engineOf();
  await engine.ledger.open();
});

const called = (scope: string, args: object = TEA, definition: object = {}): Operation =>
  operationOf(engine, definition, args, { scope });

let claims = 0;

/** Another process owns it, and is at it. */
async function claim(
  { ref, draft }: Operation,
  more: Parameters<typeof claimOf>[0] = {},
): Promise<void> {
  const at = engine.clock.now();
  claims += 1;
  const holder = `owner-${claims}`;
  const move = claimOf({ draft, holder, leaseMs: LEASE_MS, at, ...more });
  expect(await engine.ledger.move(ref, move)).toMatchObject({ tag: "moved" });
}

/** Now: whatever is there has been made by then. */
const isUnderWay = (operation: Operation, foundAt = engine.clock.now()) =>
  isSameUnderWay(operation, foundAt, engine);

describe("another operation of the same intent is under way", () => {
  test("while the lease of its owner lasts, and no longer", async () => {
    await claim(called("a"));
    expect(await isUnderWay(called("b"))).toBe(true);
    await engine.clock.advance(LEASE_MS - 1);
    expect(await isUnderWay(called("b"))).toBe(true);
    await engine.clock.advance(1_000);
    expect(await isUnderWay(called("b"))).toBe(false);
  });

  test("not one whose attempts all began after the effect was there", async () => {
    const foundAt = engine.clock.now();
    await engine.clock.advance(1);
    await claim(called("a"));
    expect(await isUnderWay(called("b"), foundAt)).toBe(false);
    expect(await isUnderWay(called("b"), foundAt + 1)).toBe(true);
  });

  test("not one that is in doubt here, until it is sent again", async () => {
    const operation = called("a");
    await claim(operation);
    const { record } = (await engine.ledger.read(operation.ref)) ?? {};
    const { epoch = 0 } = record ?? {};
    const execution = executionOf(operation, { inDoubt: { epoch, n: 1 } });
    engine.live.begin(operation.ref.id, execution);
    expect(await isUnderWay(called("b"))).toBe(false);
    for (const inDoubt of [undefined, { epoch, n: 0 }, { epoch: epoch + 1, n: 1 }]) {
      execution.inDoubt = inDoubt;
      expect(await isUnderWay(called("b"))).toBe(true);
    }
  });

  test("not one that was taken over, once its earlier owner may send no more", async () => {
    const operation = called("a");
    const endsBy = engine.clock.now() + LEASE_MS + 2_000;
    await claim(operation, { endsBy });
    await engine.clock.advance(LEASE_MS + 1);
    await claim(operation);
    expect(await isUnderWay(called("b"))).toBe(true);
    await engine.clock.advance(2_000);
    expect(await isUnderWay(called("b"))).toBe(false);
  });

  test("one whose yes has come late, and is not settled yet", async () => {
    const operation = called("a");
    await claim(operation, { endsBy: engine.clock.now() + 1 });
    await engine.clock.advance(LEASE_MS + 1);
    await claim(operation);
    expect(await isUnderWay(called("b"))).toBe(false);
    const { record } = (await engine.ledger.read(operation.ref)) ?? {};
    const evidence = evidenceOf({ attempt: 1, epoch: 1, verdict: "committed" });
    await engine.ledger.move(operation.ref, {
      move: "file",
      evidence,
      madeAt: record?.createdAt,
      update: undefined,
      note: undefined,
      dedupes: false,
      fingerprint: operation.draft.identity.fingerprint,
      at: engine.clock.now(),
    });
    expect(await isUnderWay(called("b"))).toBe(true);
  });

  test("the order of its arguments makes no other intent", async () => {
    await claim(called("a", { item: "tea", size: 1 }));
    expect(await isUnderWay(called("b", { size: 1, item: "tea" }))).toBe(true);
  });

  test.each([
    ["of the operation itself", () => called("a")],
    ["of other arguments", () => called("b", { item: "milk" })],
    ["of another tool", () => called("b", TEA, { name: "buy" })],
  ])("not by a claim %s", async (_, operation) => {
    await claim(called("a"));
    expect(await isUnderWay(operation())).toBe(false);
  });

  test("on whichever page it is", async () => {
    for (let n = 0; n < 150; n += 1) await claim(called("a", { n }));
    expect(await isUnderWay(called("b", { n: 149 }))).toBe(true);
    expect(await isUnderWay(called("b", { n: 150 }))).toBe(false);
  });

  test("of more than can be looked through, one may be the same", async () => {
    for (let n = 0; n <= 1_000; n += 1) await claim(called("a", { n }));
    expect(await isUnderWay(called("b"))).toBe(true);
  });

  test("an intent that cannot be read here is not taken for the same", async () => {
    await claim(called("a"));
    const decode = () => ({ ok: false, why: "another key" }) as never;
    const sealed = { ...engine, codec: { ...engine.codec, decode } };
    expect(await isSameUnderWay(called("b"), engine.clock.now(), sealed)).toBe(false);
  });
});
