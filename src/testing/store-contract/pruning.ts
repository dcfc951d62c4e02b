/**
 * Pruning: payloads go, tombstones stay until told otherwise, and what is open is left alone.
 *
 * @module
 */

import assert from "node:assert/strict";
import { isOpen, type OperationRecord, type State } from "../../ledger/record.ts";
import { EVERY_STATE, evidenceOf, recordOf } from "../record-of.ts";
import { assertSame, create, mustRead, mustSwap, type StoreTest } from "./subject.ts";

const AGE_MS = 10_000;
const PAYLOAD = { form: "json", text: '{"secret":"x"}' } as const;
const COMMITTED: State = { tag: "committed", via: "reply", effectId: "re_1", payload: PAYLOAD };
const EVERYTHING = {
  tenant: "acme",
  payloadsOlderThanMs: AGE_MS / 2,
  tombstonesOlderThanMs: AGE_MS / 2,
};

/** Settled, or whatever `state` is, long ago. */
const old = (start: number, overrides: Partial<OperationRecord>): OperationRecord =>
  recordOf({ intent: undefined, stateAt: start - AGE_MS, ...overrides });

export function testPruning(test: StoreTest): void {
  test("old payloads are wiped, and the tombstone stays", async ({ store, start }) => {
    const record = old(start, {
      state: COMMITTED,
      precondition: PAYLOAD,
      evidence: [evidenceOf({ payload: PAYLOAD, effectId: "re_1" })],
    });
    const { version } = await mustSwap(store, create(record));
    const pruned = await store.prune({ tenant: "acme", payloadsOlderThanMs: AGE_MS / 2 });
    assertSame(pruned, { payloads: 1, tombstones: 0 });
    const left = await mustRead(store, "acme", record.id);
    assertSame(left.record, {
      ...record,
      state: { ...COMMITTED, payload: undefined },
      precondition: undefined,
      evidence: [evidenceOf({ effectId: "re_1" })],
    });
    assert.ok(!JSON.stringify(left).includes("secret"));
    assert.ok(left.version > version);
  });

  test("a payload is wiped once, and not counted again", async ({ store, start }) => {
    await mustSwap(store, create(old(start, { state: COMMITTED })));
    const query = { tenant: "acme", payloadsOlderThanMs: AGE_MS / 2 };
    assertSame(await store.prune(query), { payloads: 1, tombstones: 0 });
    assertSame(await store.prune(query), { payloads: 0, tombstones: 0 });
  });

  test("a swap decided before a payload was wiped does not bring it back", async ({
    store,
    start,
  }) => {
    const record = old(start, { state: COMMITTED });
    const { version } = await mustSwap(store, create(record));
    await store.prune({ tenant: "acme", payloadsOlderThanMs: AGE_MS / 2 });
    assert.equal((await store.swap({ ...create(record), expect: version })).ok, false);
  });

  test("what is younger is kept", async ({ store, start }) => {
    const record = old(start, { state: COMMITTED });
    await mustSwap(store, create(record));
    const query = {
      tenant: "acme",
      payloadsOlderThanMs: AGE_MS * 1_000,
      tombstonesOlderThanMs: AGE_MS * 1_000,
    };
    assertSame(await store.prune(query), { payloads: 0, tombstones: 0 });
    assertSame((await mustRead(store, "acme", record.id)).record, record);
  });

  test("nothing is pruned that was not asked for", async ({ store, start }) => {
    const record = old(start, { state: COMMITTED });
    await mustSwap(store, create(record));
    assertSame(await store.prune({ tenant: "acme" }), { payloads: 0, tombstones: 0 });
    assertSame((await mustRead(store, "acme", record.id)).record, record);
  });

  test("a removed tombstone takes its effects along, and its operation can be made anew", async ({
    store,
    start,
  }) => {
    const record = old(start, { state: COMMITTED });
    await mustSwap(store, create(record));
    await store.own("acme", "payments", "re_1", record.id);
    const pruned = await store.prune({ tenant: "acme", tombstonesOlderThanMs: AGE_MS / 2 });
    assertSame(pruned, { payloads: 0, tombstones: 1 });
    assert.equal((await store.read("acme", record.id)).stored, undefined);
    assert.equal(await store.ownerOf("acme", "payments", "re_1"), undefined);
    await mustSwap(store, create(record));
  });

  for (const state of EVERY_STATE) {
    const end = isOpen(state) ? "is never touched" : "is removed when tombstones are";
    test(`an old operation that is ${state.tag} ${end}`, async ({ store, start }) => {
      const record = old(start, { state, evidence: [evidenceOf({ payload: PAYLOAD })] });
      await mustSwap(store, { ...create(record), lease: 1 });
      const before = await mustRead(store, "acme", record.id);
      const pruned = await store.prune(EVERYTHING);
      assertSame(pruned, { payloads: 0, tombstones: isOpen(state) ? 0 : 1 });
      const { stored } = await store.read("acme", record.id);
      assertSame(stored, isOpen(state) ? before : undefined);
    });
  }

  test("no more records are touched than the limit says, and the rest by the next call", async ({
    store,
    start,
  }) => {
    for (let index = 0; index < 7; index++) {
      await mustSwap(store, create(old(start, { id: `operation-${index}`, state: COMMITTED })));
    }
    const query = { tenant: "acme", payloadsOlderThanMs: AGE_MS / 2, limit: 3 };
    assertSame(await store.prune(query), { payloads: 3, tombstones: 0 });
    assertSame(await store.prune(query), { payloads: 3, tombstones: 0 });
    assertSame(await store.prune(query), { payloads: 1, tombstones: 0 });
    const both = await store.prune({ ...EVERYTHING, limit: 5 });
    assertSame(both, { payloads: 0, tombstones: 5 });
    assert.equal((await store.list({ tenant: "acme" })).items.length, 2);
  });
}
