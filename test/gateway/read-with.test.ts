/** Readers that are data: which item of a list is the one that a call has made. */
import { describe, expect, test } from "vitest";
import { isSuccess, readWith } from "../../src/gateway/guard/read-with.ts";
import type { ReadWith } from "../../src/gateway/guard/rules.ts";
import { READY_RULES } from "../../src/gateway/ready/index.ts";

const SENT = Date.parse("2026-11-17T12:00:00Z");
const query = { key: "k1", intent: { title: "a", nested: { amount: 5 } }, firstSentAt: SENT };
const LIST: ReadWith = {
  tool: "list",
  match: { title: "$intent.title" },
  madeAt: "created_at",
  id: "id",
};
const at = (seconds: number) => new Date(SENT + seconds * 1_000).toISOString();

async function read(rule: Partial<ReadWith>, items: unknown) {
  const text = JSON.stringify(items);
  const call = async () => ({ result: { content: [{ type: "text", text }] } });
  return readWith({ ...LIST, ...rule }, query, call);
}

describe("what was made when", () => {
  const item = (seconds: number) => ({ id: 7, title: "a", created_at: at(seconds) });

  test("later than the call: it is the one", async () => {
    expect(await read({}, [item(1)])).toMatchObject({ reading: "committed", effectId: "7" });
    const bySeconds = [{ title: "a", ts: `${SENT / 1_000 + 1}.000200` }];
    expect(await read({ madeAt: "ts" }, bySeconds)).toMatchObject({ reading: "committed" });
  });

  test("long before the call: another one", async () => {
    expect(await read({}, [item(-600)])).toMatchObject({ reading: "absent" });
  });

  test("shortly before the call, or at no time: by another clock it may be either", async () => {
    expect(await read({}, [item(-60)])).toMatchObject({ reading: "cannot_tell" });
    expect(await read({}, [{ title: "a" }])).toMatchObject({ reading: "cannot_tell" });
  });

  test("a day, a time without a zone: it may be hours earlier or later", async () => {
    const made = (created_at: unknown) => read({}, [{ title: "a", created_at }]);
    for (const time of ["2026-11-17", "2026-11-17T11:00:00", "2026-11-17 13:00:00", "17/11/2026"]) {
      expect(await made(time), time).toMatchObject({ reading: "cannot_tell" });
    }
    for (const time of ["2026-11-15", "2026-11-16T11:00:00", "2026-11-17T12:00:00+02:00"]) {
      expect(await made(time), time).toMatchObject({ reading: "absent" });
    }
    for (const time of ["2026-11-19", "2026-11-18 03:00:00", "Tue, 17 Nov 2026 12:00:01 GMT"]) {
      expect(await made(time), time).toMatchObject({ reading: "committed" });
    }
  });

  test("milliseconds since 1970 are not taken for seconds", async () => {
    const made = (created_at: number) => read({}, [{ title: "a", created_at }]);
    expect(await made(SENT - 600_000)).toMatchObject({ reading: "absent" });
    expect(await made(SENT + 1)).toMatchObject({ reading: "committed" });
  });

  test("two that fit: neither is known to be the one, unless they have the key", async () => {
    expect(await read({}, [item(1), item(2)])).toMatchObject({ reading: "cannot_tell" });
    const keyed = [{ key: "k1" }, { key: "k1" }];
    const rule = { match: { key: "$key" }, madeAt: undefined };
    expect(await read(rule, keyed)).toMatchObject({ reading: "duplicated" });
  });

  test("a page that is full goes on, unless it reaches back before the call", async () => {
    const other = (seconds: number) => ({ title: "b", created_at: at(seconds) });
    const page = { pageSize: 2, newestFirst: true } as const;
    expect(await read(page, [other(1)])).toMatchObject({ reading: "absent" });
    expect(await read(page, [other(2), other(1)])).toMatchObject({ reading: "cannot_tell" });
    expect(await read(page, [other(2), other(-900)])).toMatchObject({ reading: "absent" });
    expect(await read({ pageSize: 2 }, [other(2), other(-900)])).toMatchObject({
      reading: "cannot_tell",
    });
  });
});

test("a single thing, and paths into the intent", async () => {
  const rule = { single: true, match: { paid: "$intent.nested.amount" }, madeAt: undefined };
  expect(await read(rule, { paid: 5 })).toMatchObject({ reading: "committed" });
  expect(await read(rule, { paid: 6 })).toMatchObject({ reading: "absent" });
  const lacking = { ...rule, match: { paid: "$intent.none" } };
  expect(await read(lacking, { paid: 5 })).toMatchObject({ reading: "cannot_tell" });
});

test("an object is the same in any order of its fields, a text in any form of its letters", async () => {
  const rule = {
    single: true,
    match: { it: "$intent.nested", name: "Caf\u00e9" },
    madeAt: undefined,
  };
  const nested = { amount: 5, unit: "m" };
  const call = async () => ({
    result: { structuredContent: { it: { unit: "m", amount: 5 }, name: "Cafe\u0301" } },
  });
  const reading = await readWith({ ...LIST, ...rule }, { ...query, intent: { nested } }, call);
  expect(reading).toMatchObject({ reading: "committed" });
});

test("a list that is too long to be looked through is not whole", async () => {
  const items = Array.from({ length: 10_001 }, () => ({ title: "b", created_at: at(1) }));
  expect(await read({}, items)).toMatchObject({ reading: "cannot_tell" });
});

test("a reader of some calls cannot tell of others", async () => {
  const created = [{ id: 7, title: "a", created_at: at(1) }];
  expect(await read({ when: { title: "a" } }, created)).toMatchObject({ reading: "committed" });
  expect(await read({ when: { title: "b" } }, created)).toMatchObject({ reading: "cannot_tell" });
});

test("a list that does not show what is looked for cannot tell", async () => {
  expect(await read({}, [{ id: 7 }])).toMatchObject({ reading: "cannot_tell" });
  expect(await read({}, [])).toMatchObject({ reading: "absent" });
});

test("stripe: a failure that is handed on as a text is no success", () => {
  const { succeedsWith } = READY_RULES.stripe?.create_refund ?? {};
  const said = (value: unknown) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
  expect(isSuccess(said("Failed to create refund"), succeedsWith)).toBe(false);
  expect(isSuccess(said({ id: "re_1", status: "succeeded" }), succeedsWith)).toBe(true);
  expect(isSuccess({ content: [{ type: "text", text: "Failed" }] }, succeedsWith)).toBe(false);
});

test("a tool that fails, or says something else, cannot tell", async () => {
  const failing = async () => ({ result: { content: [], isError: true } });
  expect(await readWith(LIST, query, failing)).toMatchObject({ reading: "cannot_tell" });
  expect(await read({}, "no list")).toMatchObject({ reading: "cannot_tell" });
});
