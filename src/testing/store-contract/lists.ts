/**
 * Lists: every filter, in the order of creation, page by page while others write.
 *
 * @module
 */

import { beforeEach, describe, expect, test } from "vitest";
import type { ListQuery, Store } from "../../ledger/store.ts";
import { EVERY_STATE, recordOf } from "../record-of.ts";
import { create, mustRead, mustSwap, type Subject } from "./subject.ts";

const MAX_PAGES = 100;

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

export function testLists(subject: () => Subject): void {
  describe("filters", () => {
    beforeEach(async () => {
      const { store } = subject();
      const records = [
        recordOf({ id: "1", tool: "refund", scope: "s1", resource: "payment/p1", stateAt: 100 }),
        recordOf({ id: "2", tool: "mail", scope: "s1", stateAt: 200 }),
        recordOf({ id: "3", tool: "refund", scope: "s2", resource: "payment/p1", stateAt: 300 }),
        recordOf({ id: "4", tool: "refund", scope: "s1", resource: "payment/p2", stateAt: 400 }),
      ];
      for (const [createdAt, record] of records.entries()) {
        await mustSwap(store, create({ ...record, createdAt }));
      }
    });

    test.each([
      ["nothing", {}, ["1", "2", "3", "4"]],
      ["the tool", { tool: "refund" }, ["1", "3", "4"]],
      ["the scope", { scope: "s1" }, ["1", "2", "4"]],
      ["the resource", { resource: "payment/p1" }, ["1", "3"]],
      ["when the state was reached, from a time on", { since: 200 }, ["2", "3", "4"]],
      ["when the state was reached, before a time", { until: 300 }, ["1", "2"]],
      ["several at once", { tool: "refund", scope: "s1", since: 101 }, ["4"]],
      ["what nothing has", { tool: "none" }, []],
    ])("a list is filtered by %s", async (_, query, ids) => {
      expect(await idsOf(subject().store, query)).toEqual(ids);
    });
  });

  test("a list is filtered by state, one or several", async () => {
    const { store } = subject();
    for (const [createdAt, state] of EVERY_STATE.entries()) {
      await mustSwap(store, create(recordOf({ id: state.tag, state, createdAt })));
    }
    for (const { tag } of EVERY_STATE) expect(await idsOf(store, { states: [tag] })).toEqual([tag]);
    const some = await idsOf(store, { states: ["unknown", "held"] });
    expect(some).toEqual(["held", "unknown"]);
    expect(await idsOf(store, { states: [] })).toEqual([]);
  });

  test("a filter sees the record as it is now, in its old place", async () => {
    const { store, start } = subject();
    const [first = "", ...others] = await add(store, start, "record", 3);
    const { record, version } = await mustRead(store, "acme", first);
    const state = { tag: "unknown", reason: "deadline" } as const;
    await mustSwap(store, { ...create({ ...record, state }), expect: version });
    expect(await idsOf(store, { states: ["unknown"] })).toEqual([first]);
    expect(await idsOf(store, { states: ["claimed"] })).toEqual(others);
    expect(await idsOf(store, {})).toEqual([first, ...others]);
  });

  test("an item of a list is what a read gives", async () => {
    const { store } = subject();
    await mustSwap(store, { ...create(recordOf()), lease: 60_000 });
    const { items } = await store.list({ tenant: "acme" });
    expect(items).toEqual([await mustRead(store, "acme", "operation-1")]);
  });

  test("pages cover all that was there, in order and without repeats, while records are added", async () => {
    const { store, start } = subject();
    const ids = await add(store, start, "before", 12);
    const listed: string[] = [];
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await store.list({ tenant: "acme", limit: 3, cursor });
      expect(page.items.length).toBeLessThanOrEqual(3);
      listed.push(...page.items.map(({ record }) => record.id));
      // Fewer than a page holds, or the list would never end.
      await add(store, start + 1_000 + pages, `during-${pages}`, 1);
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined && pages < MAX_PAGES);
    expect(cursor).toBeUndefined();
    expect(new Set(listed).size).toBe(listed.length);
    expect(listed.filter((id) => ids.includes(id))).toEqual(ids);
  });

  test("pages go on where they were when the record they ended at is removed", async () => {
    const { store, start } = subject();
    const ids = await add(store, start, "record", 5);
    const { items, cursor } = await store.list({ tenant: "acme", limit: 2 });
    for (const { record, version } of items) {
      await mustSwap(store, { ...create(record), expect: version, record: undefined });
    }
    expect(await idsOf(store, { cursor })).toEqual(ids.slice(2));
  });

  test("a record that changes between two pages is not listed again", async () => {
    const { store, start } = subject();
    const ids = await add(store, start, "record", 4);
    const { items, cursor } = await store.list({ tenant: "acme", limit: 2 });
    for (const { record, version } of items) {
      await mustSwap(store, { ...create(record), expect: version });
    }
    expect(await idsOf(store, { cursor })).toEqual(ids.slice(2));
  });

  test("pages of a filtered list hold only what passes", async () => {
    const { store, start } = subject();
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
    expect(listed).toEqual(["1", "3", "5", "7", "9"]);
  });

  test("the last page has no cursor, also when it is full", async () => {
    const { store, start } = subject();
    await add(store, start, "record", 4);
    const first = await store.list({ tenant: "acme", limit: 2 });
    expect(first.cursor).toBeTypeOf("string");
    const last = await store.list({ tenant: "acme", limit: 2, cursor: first.cursor });
    expect(last.items).toHaveLength(2);
    expect(last.cursor).toBeUndefined();
  });

  test("a page holds at least one record, whatever limit is asked for", async () => {
    const { store, start } = subject();
    await add(store, start, "record", 3);
    expect(await idsOf(store, { limit: 0 })).toHaveLength(1);
    expect(await idsOf(store, { limit: -5 })).toHaveLength(1);
    expect(await idsOf(store, { limit: 1_000_000 })).toHaveLength(3);
  });
}
