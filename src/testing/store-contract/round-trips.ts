/**
 * Whatever is written is read back the same: every state, and every hostile name.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { OperationRecord } from "../../ledger/record.ts";
import { EVERY_STATE, evidenceOf, recordOf } from "../record-of.ts";
import { assertSame, create, mustRead, mustSwap, type StoreTest } from "./subject.ts";

const HOSTILE: readonly (readonly [string, string])[] = [
  ["quotes", `'"\`\\`],
  ["SQL", `x"; DROP TABLE t;--`],
  ["a Redis key pattern", "*?[a-z]{slot}"],
  ["a printf pattern", "%s %n $1 :name ?"],
  ["a prototype", "__proto__"],
  ["a method", "constructor"],
  ["line breaks and tabs", "a\r\n\tb"],
  ["space around it", " a "],
  ["letters of all kinds", "Ünïcødé 漢字 🧨 \u202e\u200b"],
  ["decomposed letters", "e\u0301"],
  ["512 characters", "x".repeat(512)],
  ["512 wide characters", "漢".repeat(512)],
];

/** Every field filled, `text` wherever text may stand. */
const recordFullOf = (text: string): OperationRecord =>
  recordOf({
    tenant: text,
    id: text,
    tool: text,
    service: text,
    scope: text,
    fingerprint: text,
    run: text,
    again: text,
    version: text,
    resource: text,
    parent: text,
    epoch: 3,
    generation: 2,
    argsHash: text,
    fields: Object.fromEntries([[text, text]]),
    precondition: { form: "json", text: JSON.stringify(text) },
    aliases: [text],
    runs: [text, "run-2"],
    answers: [{ approve: true, by: text, at: 5, note: text, counted: false }],
    attempts: [
      {
        n: 1,
        epoch: 1,
        generation: 0,
        licence: "first",
        at: 1,
        endedAt: 2.5,
        endsBy: 9,
        verdict: "unknown",
        status: 503,
        tookKey: true,
        wireRequests: 2,
        unverified: true,
        innerOnly: false,
        cleared: "absent",
      },
    ],
    evidence: [
      evidenceOf({
        effect: "updated",
        effectId: text,
        status: 200,
        payload: { form: "response", text, sealedWith: text },
      }),
    ],
  });

export function testRoundTrips(test: StoreTest): void {
  for (const state of EVERY_STATE) {
    test(`a record that is ${state.tag} is read as it was written`, async ({ store }) => {
      const record = { ...recordFullOf("plain"), state };
      await mustSwap(store, create(record));
      assertSame((await mustRead(store, record.tenant, record.id)).record, record);
    });
  }

  test("a record with nothing optional is read as it was written", async ({ store }) => {
    const record = recordOf({ intent: undefined, attempts: [], fired: 0, fields: {} });
    await mustSwap(store, create(record));
    assertSame((await mustRead(store, record.tenant, record.id)).record, record);
  });

  for (const [what, text] of HOSTILE) {
    test(`text that is ${what} is kept in every field of a record, and found by every filter`, async ({
      store,
    }) => {
      const record = recordFullOf(text);
      await mustSwap(store, create(record));
      assertSame((await mustRead(store, text, text)).record, record);
      const filters = { tool: text, scope: text, resource: text };
      const { items } = await store.list({ tenant: text, ...filters });
      assertSame(
        items.map((item) => item.record),
        [record],
      );
      assertSame((await store.list({ tenant: text, scope: `${text}x` })).items, []);
    });

    test(`text that is ${what} names lanes and effects`, async ({ store }) => {
      const lane = { holder: text, queue: [{ id: text, until: 1 }] };
      await mustSwap(store, { ...create(recordOf()), lane: { name: text, expect: 0, lane } });
      assertSame((await store.readLane("acme", text)).stored?.lane, lane);
      assert.equal(await store.ownerOf("acme", text, text), undefined);
      assert.equal(await store.own("acme", text, text, text), text);
      assert.equal(await store.ownerOf("acme", text, text), text);
    });
  }

  test("a record of some size is read as it was written", async ({ store }) => {
    const payload = { form: "json", text: JSON.stringify("y".repeat(200_000)) } as const;
    const record = recordOf({ state: { tag: "committed", via: "reply", payload } });
    await mustSwap(store, create(record));
    assertSame((await mustRead(store, record.tenant, record.id)).record, record);
  });
}
