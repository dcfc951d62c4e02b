/**
 * Lists: every filter, in the order of creation and in its reverse, page by page while others write.
 *
 * @module
 */

import assert from "node:assert/strict";
import type { ListQuery, Store } from "../../ledger/store.ts";
import { EVERY_STATE, recordOf } from "../record-of.ts";
import { assertSame, create, mustRead, mustSwap, type StoreTest } from "./subject.ts";

const MAX_PAGES = 100;

const FILTERS: readonly (readonly [string, Omit<ListQuery, "tenant">, readonly string[]])[] = [
  ["nothing", {}, ["1", "2", "3", "4"]],
  ["the tool", { tool: "refund" }, ["1", "3", "4"]],
  ["the scope", { scope: "s1" }, ["1", "2", "4"]],
  ["the resource", { resource: "payment/p1" }, ["1", "3"]],
  ["when the state was reached, from a time on", { since: 200 }, ["2", "3", "4"]],
  ["when the state was reached, before a time", { until: 300 }, ["1", "2"]],
  ["several at once", { tool: "refund", scope: "s1", since: 101 }, ["4"]],
  ["what nothing has", { tool: "none" }, []],
];

const idsOf = async (store: Store, query: Omit<ListQuery, "tenant">): Promise<string[]> =>
  (await store.list({ tenant: "acme", ...query })).items.map(({ record }) => record.id);

/** Adds records `name-0` … in this order, a millisecond apart. */
async function add(store: Store, start: number, name: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  for (const [index, id] of ids.entries()) {
    await mustSwap(store, create(recordOf({ id, createdAt: start + index })));
  }
  return ids;
}

export function testLists(test: StoreTest): void {
  for (const [what, query, ids] of FILTERS) {
    test(`a list is filtered by ${what}`, async ({ store }) => {
      const records = [
        recordOf({ id: "1", tool: "refund", scope: "s1", resource: "payment/p1", stateAt: 100 }),
        recordOf({ id: "2", tool: "mail", scope: "s1", stateAt: 200 }),
        recordOf({ id: "3", tool: "refund", scope: "s2", resource: "payment/p1", stateAt: 300 }),
        recordOf({ id: "4", tool: "refund", scope: "s1", resource: "payment/p2", stateAt: 400 }),
      ];
      for (const [createdAt, record] of records.entries()) {
        await mustSwap(store, create({ ...record, createdAt }));
      }
      assertSame(await idsOf(store, query), ids);
    });
  }

  test("a list is filtered by state, one or several", async ({ store }) => {
    for (const [createdAt, state] of EVERY_STATE.entries()) {
      await mustSwap(store, create(recordOf({ id: state.tag, state, createdAt })));
    }
    for (const { tag } of EVERY_STATE) assertSame(await idsOf(store, { states: [tag] }), [tag]);
    const some = await idsOf(store, { states: ["unknown", "held"] });
    assertSame(some, ["held", "unknown"]);
    // What is open may have an index of its own, in which nothing that is settled is found.
    const mixed = await idsOf(store, { states: ["claimed", "committed"] });
    assertSame(mixed.toSorted(), ["claimed", "committed"]);
    assertSame(await idsOf(store, { states: [] }), []);
  });

  test("a filter sees the record as it is now, in its old place", async ({ store, start }) => {
    const [first = "", ...others] = await add(store, start, "record", 3);
    const { record, version } = await mustRead(store, "acme", first);
    const state = { tag: "unknown", reason: "deadline" } as const;
    await mustSwap(store, { ...create({ ...record, state }), expect: version });
    assertSame(await idsOf(store, { states: ["unknown"] }), [first]);
    assertSame(await idsOf(store, { states: ["claimed"] }), others);
    assertSame(await idsOf(store, {}), [first, ...others]);
  });

  test("an item of a list is what a read gives", async ({ store }) => {
    await mustSwap(store, { ...create(recordOf()), lease: 60_000 });
    const { items } = await store.list({ tenant: "acme" });
    assertSame(items, [await mustRead(store, "acme", "operation-1")]);
  });

  test("pages cover all that was there, in order and without repeats, while records are added", async ({
    store,
    start,
  }) => {
    const ids = await add(store, start, "before", 12);
    const listed: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await store.list({ tenant: "acme", limit: 3, cursor });
      assert.ok(page.items.length <= 3);
      listed.push(...page.items.map(({ record }) => record.id));
      // Fewer than a page holds, or the list would never end.
      await add(store, start + 1_000 + pages, `during-${pages}`, 1);
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined && pages < MAX_PAGES);
    assert.equal(cursor, undefined);
    assert.equal(new Set(listed).size, listed.length);
    assertSame(
      listed.filter((id) => ids.includes(id)),
      ids,
    );
  });

  test("pages go on where they were when the record they ended at is removed", async ({
    store,
    start,
  }) => {
    const ids = await add(store, start, "record", 5);
    const { items, cursor } = await store.list({ tenant: "acme", limit: 2 });
    for (const { record, version } of items) {
      await mustSwap(store, { ...create(record), expect: version, record: undefined });
    }
    assertSame(await idsOf(store, { cursor }), ids.slice(2));
  });

  test("a record that changes between two pages is not listed again", async ({ store, start }) => {
    const ids = await add(store, start, "record", 4);
    const { items, cursor } = await store.list({ tenant: "acme", limit: 2 });
    for (const { record, version } of items) {
      await mustSwap(store, { ...create(record), expect: version });
    }
    assertSame(await idsOf(store, { cursor }), ids.slice(2));
  });

  test("pages of a filtered list hold only what passes", async ({ store, start }) => {
    for (let index = 0; index < 10; index++) {
      const tool = index % 2 === 0 ? "even" : "odd";
      await mustSwap(store, create(recordOf({ id: `${index}`, tool, createdAt: start + index })));
    }
    const listed: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await store.list({ tenant: "acme", tool: "odd", limit: 2, cursor });
      listed.push(...page.items.map(({ record }) => record.id));
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined && pages < MAX_PAGES);
    assertSame(listed, ["1", "3", "5", "7", "9"]);
  });

  test("the newest first: the same list in reverse, page by page, while records are added", async ({
    store,
    start,
  }) => {
    const ids = await add(store, start, "record", 7);
    // A settled one among open ones: a store may keep the two apart.
    const settled = await mustRead(store, "acme", "record-3");
    const record = { ...settled.record, state: { tag: "committed", via: "reply" } } as const;
    await mustSwap(store, { ...create(record), expect: settled.version });
    const listed: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await store.list({ tenant: "acme", newestFirst: true, limit: 2, cursor });
      assert.ok(page.items.length <= 2);
      listed.push(...page.items.map(({ record: { id } }) => id));
      await add(store, start + 1_000 + pages, `during-${pages}`, 1);
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined && pages < MAX_PAGES);
    assertSame(listed, ids.toReversed());
    const open = { newestFirst: true, states: ["claimed"], tool: record.tool } as const;
    const some = (await idsOf(store, open)).filter((id) => ids.includes(id));
    assertSame(
      some,
      ids.toReversed().filter((id) => id !== "record-3"),
    );
    const others = { newestFirst: true, states: ["committed"] } as const;
    assertSame(await idsOf(store, others), ["record-3"]);
    const scoped = await idsOf(store, { newestFirst: true, scope: record.scope, limit: 1 });
    assertSame(scoped, [`during-${pages - 1}-0`]);
  });

  test("the last page has no cursor, also when it is full", async ({ store, start }) => {
    await add(store, start, "record", 4);
    const first = await store.list({ tenant: "acme", limit: 2 });
    assert.equal(typeof first.cursor, "string");
    const last = await store.list({ tenant: "acme", limit: 2, cursor: first.cursor });
    assert.equal(last.items.length, 2);
    assert.equal(last.cursor, undefined);
  });

  test("a page holds at least one record, whatever limit is asked for", async ({
    store,
    start,
  }) => {
    await add(store, start, "record", 3);
    assert.equal((await idsOf(store, { limit: 0 })).length, 1);
    assert.equal((await idsOf(store, { limit: -5 })).length, 1);
    assert.equal((await idsOf(store, { limit: 1_000_000 })).length, 3);
  });
}
