/**
 * Pruning: payloads go, tombstones stay until told otherwise, and what is open is left alone.
 *
 * @module
 */

import { describe, expect, test } from "vitest";
import { isOpen, type OperationRecord, type State } from "../../ledger/record.ts";
import { EVERY_STATE, evidenceOf, recordOf } from "../record-of.ts";
import { create, mustRead, mustSwap, type Subject } from "./subject.ts";

const AGE_MS = 10_000;
const PAYLOAD = { form: "json", text: '{"secret":"x"}' } as const;
const COMMITTED: State = { tag: "committed", via: "reply", effectId: "re_1", payload: PAYLOAD };
const EVERYTHING = {
  tenant: "acme",
  payloadsOlderThanMs: AGE_MS / 2,
  tombstonesOlderThanMs: AGE_MS / 2,
};

export function testPruning(subject: () => Subject): void {
  /** Settled, or whatever `state` is, long ago. */
  const old = (overrides: Partial<OperationRecord>): OperationRecord =>
    recordOf({ intent: undefined, stateAt: subject().start - AGE_MS, ...overrides });

  test("old payloads are wiped, and the tombstone stays", async () => {
    const { store } = subject();
    const record = old({
      state: COMMITTED,
      precondition: PAYLOAD,
      evidence: [evidenceOf({ payload: PAYLOAD, effectId: "re_1" })],
    });
    const { version } = await mustSwap(store, create(record));
    const pruned = await store.prune({ tenant: "acme", payloadsOlderThanMs: AGE_MS / 2 });
    expect(pruned).toEqual({ payloads: 1, tombstones: 0 });
    const left = await mustRead(store, "acme", record.id);
    expect(left.record).toEqual({
      ...record,
      state: { ...COMMITTED, payload: undefined },
      precondition: undefined,
      evidence: [evidenceOf({ effectId: "re_1" })],
    });
    expect(JSON.stringify(left)).not.toContain("secret");
    expect(left.version).toBeGreaterThan(version);
  });

  test("a payload is wiped once, and not counted again", async () => {
    const { store } = subject();
    await mustSwap(store, create(old({ state: COMMITTED })));
    const query = { tenant: "acme", payloadsOlderThanMs: AGE_MS / 2 };
    expect(await store.prune(query)).toEqual({ payloads: 1, tombstones: 0 });
    expect(await store.prune(query)).toEqual({ payloads: 0, tombstones: 0 });
  });

  test("a swap decided before a payload was wiped does not bring it back", async () => {
    const { store } = subject();
    const record = old({ state: COMMITTED });
    const { version } = await mustSwap(store, create(record));
    await store.prune({ tenant: "acme", payloadsOlderThanMs: AGE_MS / 2 });
    expect((await store.swap({ ...create(record), expect: version })).ok).toBe(false);
  });

  test("what is younger is kept", async () => {
    const { store } = subject();
    const record = old({ state: COMMITTED });
    await mustSwap(store, create(record));
    const query = {
      tenant: "acme",
      payloadsOlderThanMs: AGE_MS * 1_000,
      tombstonesOlderThanMs: AGE_MS * 1_000,
    };
    expect(await store.prune(query)).toEqual({ payloads: 0, tombstones: 0 });
    expect((await mustRead(store, "acme", record.id)).record).toEqual(record);
  });

  test("nothing is pruned that was not asked for", async () => {
    const { store } = subject();
    const record = old({ state: COMMITTED });
    await mustSwap(store, create(record));
    expect(await store.prune({ tenant: "acme" })).toEqual({ payloads: 0, tombstones: 0 });
    expect((await mustRead(store, "acme", record.id)).record).toEqual(record);
  });

  test("a removed tombstone takes its effects along, and its operation can be made anew", async () => {
    const { store } = subject();
    const record = old({ state: COMMITTED });
    await mustSwap(store, create(record));
    await store.own("acme", "payments", "re_1", record.id);
    const pruned = await store.prune({ tenant: "acme", tombstonesOlderThanMs: AGE_MS / 2 });
    expect(pruned).toEqual({ payloads: 0, tombstones: 1 });
    expect((await store.read("acme", record.id)).stored).toBeUndefined();
    expect(await store.ownerOf("acme", "payments", "re_1")).toBeUndefined();
    await mustSwap(store, create(record));
  });

  describe.each(EVERY_STATE)("an old operation that is $tag", (state) => {
    test(isOpen(state) ? "is never touched" : "is removed when tombstones are", async () => {
      const { store } = subject();
      const record = old({ state, evidence: [evidenceOf({ payload: PAYLOAD })] });
      await mustSwap(store, { ...create(record), lease: 1 });
      const before = await mustRead(store, "acme", record.id);
      const pruned = await store.prune(EVERYTHING);
      expect(pruned).toEqual({ payloads: 0, tombstones: isOpen(state) ? 0 : 1 });
      const { stored } = await store.read("acme", record.id);
      expect(stored).toEqual(isOpen(state) ? before : undefined);
    });
  });

  test("no more records are touched than the limit says, and the rest by the next call", async () => {
    const { store } = subject();
    for (let index = 0; index < 7; index++) {
      await mustSwap(store, create(old({ id: `operation-${index}`, state: COMMITTED })));
    }
    const query = { tenant: "acme", payloadsOlderThanMs: AGE_MS / 2, limit: 3 };
    expect(await store.prune(query)).toEqual({ payloads: 3, tombstones: 0 });
    expect(await store.prune(query)).toEqual({ payloads: 3, tombstones: 0 });
    expect(await store.prune(query)).toEqual({ payloads: 1, tombstones: 0 });
    const both = await store.prune({ ...EVERYTHING, limit: 5 });
    expect(both).toEqual({ payloads: 0, tombstones: 5 });
    expect((await store.list({ tenant: "acme" })).items).toHaveLength(2);
  });
}
