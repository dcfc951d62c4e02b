import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalize } from "../../src/key/canonical.ts";
import { findVolatileId, maskVolatile, noticeVolatile } from "../../src/key/volatile-ids.ts";

const UUID = "550e8400-e29b-41d4-a716-446655440000";
const OTHER_UUID = "6ba7b810-9dad-81d1-80b4-00c04fd430c8";

describe("findVolatileId", () => {
  test("the id of this very call is found wherever it stands", () => {
    const current = ["tool-call-a", "run-b"];
    expect(findVolatileId({ a: [{ b: "run-b" }] }, current)).toBe(".a[0].b");
    expect(findVolatileId(["x", "tool-call-a"], current)).toBe("[1]");
    expect(findVolatileId("run-b", current)).toBe("");
    expect(findVolatileId({ "odd key": "run-b" }, current)).toBe('["odd key"]');
  });

  test("the first one is told", () => {
    expect(findVolatileId({ a: 1, b: "call_1a", c: "call_2b" }, [])).toBe(".b");
  });

  test.each([
    "call_9f8Hd02kfSDk20fkQ",
    "call_1",
    "call_abcdefghijklmnopqrst",
    "toolu_01A09q90qw90lq917835lq9",
    "toolu_bdrk_01A",
    "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
    "chatcmpl-tool-9",
  ])("%s is shaped like a tool-call id", (id) => {
    expect(findVolatileId({ id }, [])).toBe(".id");
  });

  test.each([
    "call_center",
    "call_me_maybe",
    "call_",
    "toolu_",
    "chatcmpl-",
    "call_abcdefghijklmnopqrs",
    "call_1 please",
    "call_1\n",
    "please call_1",
    "CALL_1",
    "call-1",
    "recall_1",
    "",
    UUID,
    "2026-11-16T10:00:00Z",
    "1700000000",
  ])("%j is an ordinary value", (value) => {
    expect(findVolatileId({ value }, [])).toBeUndefined();
  });

  test("a current id that is part of a value, a key or a number is not found", () => {
    const intent = { "tool-call-a": 12345678, b: "tool-call-a!" };
    expect(findVolatileId(intent, ["tool-call-a", "12345678"])).toBeUndefined();
  });

  test("an empty current id and a short counter match nothing; a long number does", () => {
    const intent = { text: "", quantity: "5", count: "1234567", id: "12345678" };
    expect(findVolatileId(intent, ["", "5", "1234567"])).toBeUndefined();
    expect(findVolatileId(intent, ["12345678"])).toBe(".id");
  });

  test("what is no text is passed over, and what follows it is looked at", () => {
    expect(findVolatileId({ a: null, b: [null, true, 1, "call_1"] }, [])).toBe(".b[3]");
    expect(findVolatileId(null, ["run-b"])).toBeUndefined();
  });

  test("a long hostile string is passed over", () => {
    const hostile = `call_${"a-_".repeat(33_000)}!`;
    expect(findVolatileId([hostile, hostile.slice(1)], ["x"])).toBeUndefined();
  });
});

describe("maskVolatile", () => {
  test.each([
    [`{"id":"${UUID}"}`, '{"id":"<uuid>"}'],
    [`{"id":"${UUID.toUpperCase()}"}`, '{"id":"<uuid>"}'],
    [`{"id":"order_${UUID}_x"}`, '{"id":"order_<uuid>_x"}'],
    [`["${UUID}","${OTHER_UUID}"]`, '["<uuid>","<uuid>"]'],
    ['{"at":"2026-11-16T10:00:00Z"}', '{"at":"<time>"}'],
    ['{"at":"2026-11-16T10:00:00.123456+02:00"}', '{"at":"<time>"}'],
    ['{"at":"2026-11-16T10:00:00,5+0200"}', '{"at":"<time>"}'],
    ['{"at":"2026-11-16T10:00:00-05"}', '{"at":"<time>"}'],
    ['{"at":"2026-11-16 10:00"}', '{"at":"<time>"}'],
    ['{"at":"made on 2026-11-16t10:00:00z."}', '{"at":"made on <time>."}'],
    ['{"at":1700000000}', '{"at":<time>}'],
    ['{"at":1700000000.25}', '{"at":<time>}'],
    ['{"at":1700000000123}', '{"at":<time>}'],
    ['{"at":"at 1700000000."}', '{"at":"at <time>."}'],
    ["[1700000000,1700000001]", "[<time>,<time>]"],
  ])("%s becomes %s", (text, masked) => {
    expect(maskVolatile(text)).toBe(masked);
  });

  test.each([
    '{"day":"2026-11-16"}',
    '{"n":170000000}',
    '{"n":17000000000}',
    '{"n":170000000012}',
    '{"n":17000000001234}',
    '{"phone":"4155550100"}',
    '{"id":"p1700000000"}',
    '{"n":0.1700000000}',
    '{"id":"550e8400-e29b-41d4-a716"}',
    '{"id":"550e8400e29b41d4a716446655440000"}',
    '{"amount":400}',
  ])("%s stays as it is", (text) => {
    expect(maskVolatile(text)).toBe(text);
  });

  test.each([
    ["digits", "1".repeat(100_000)],
    ["hex", "a".repeat(100_000)],
    ["dashes", "-".repeat(100_000)],
    ["nearly uuids", "550e8400-e29b-41d4-a716-44665544000-".repeat(3_000)],
    ["nearly times", "2026-11-16T10:0".repeat(7_000)],
    ["a fraction without end", `2026-11-16T10:00:00.${"1".repeat(100_000)}`],
  ])("100 KB of %s are worked through", (_name, text) => {
    expect(typeof maskVolatile(text)).toBe("string");
  });

  test("no text is passed over for what it looks like at first sight", () => {
    const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
    const time =
      /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?/gi;
    const epoch = /(?<![\w.])1\d{9}(?:\d{3})?(?:\.\d{1,9})?(?!\w)/g;
    const piece = fc.oneof(
      fc.uuid(),
      fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      fc.integer({ min: 999_999_990, max: 2_000_000_010 }).map(String),
      fc.constantFrom("2026-11-16t10:00", "2026-11-16 10:00", "-", "1", " ", "a", ":", "T", "0000"),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const text = pieces.join("");
        const expected = text.replace(uuid, "<uuid>").replace(time, "<time>");
        expect(maskVolatile(text)).toBe(expected.replace(epoch, "<time>"));
      }),
      { seed: 10, numRuns: 1_000 },
    );
  });

  test("masking twice changes nothing more", () => {
    const piece = fc.constantFrom(UUID, "2026-11-16T10:00:00Z", "1700000000", "-", "1", " ", "a");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const once = maskVolatile(JSON.stringify(pieces));
        expect(maskVolatile(once)).toBe(once);
      }),
      { seed: 7, numRuns: 500 },
    );
  });
});

describe("noticeVolatile", () => {
  const textOf = (value: unknown): string => canonicalize(value, "intent").text;
  const one = textOf({ to: "ana", ref: UUID });
  const other = textOf({ to: "ana", ref: OTHER_UUID });

  test("two operations that differ only in a uuid are noticed, and the first is named", () => {
    const seen = new Map<string, string>();
    expect(noticeVolatile(seen, "mail", "id-1", one)).toBeUndefined();
    expect(noticeVolatile(seen, "mail", "id-2", other)).toBe("id-1");
    expect(noticeVolatile(seen, "mail", "id-3", textOf({ to: "ana", ref: UUID }))).toBe("id-1");
  });

  test("the same operation again is not noticed", () => {
    const seen = new Map<string, string>();
    noticeVolatile(seen, "mail", "id-1", one);
    expect(noticeVolatile(seen, "mail", "id-1", one)).toBeUndefined();
  });

  test("another tool, another value or another scope is not noticed", () => {
    const seen = new Map<string, string>();
    noticeVolatile(seen, "mail", "id-1", one);
    expect(noticeVolatile(seen, "post", "id-2", other)).toBeUndefined();
    expect(noticeVolatile(seen, "mail", "id-3", textOf({ to: "bo", ref: UUID }))).toBeUndefined();
    expect(noticeVolatile(new Map(), "mail", "id-4", other)).toBeUndefined();
  });

  test("intents without a uuid or timestamp are not even remembered", () => {
    const seen = new Map<string, string>();
    noticeVolatile(seen, "mail", "id-1", '{"to":"ana"}');
    expect(noticeVolatile(seen, "mail", "id-2", '{"to":"ana"}')).toBeUndefined();
    expect(seen.size).toBe(0);
  });

  test("a thousand forms are remembered, the oldest goes first, and no text is kept", () => {
    const seen = new Map<string, string>();
    for (let n = 0; n < 1_500; n += 1) {
      noticeVolatile(seen, "mail", `id-${n}`, textOf({ n, ref: UUID, body: "x".repeat(100) }));
    }
    expect(seen.size).toBe(1_000);
    expect(Math.max(...[...seen.keys()].map((form) => form.length))).toBeLessThan(50);
    const body = "x".repeat(100);
    const again = (n: number): string | undefined =>
      noticeVolatile(seen, "mail", "new", textOf({ n, ref: OTHER_UUID, body }));
    expect(again(1_499)).toBe("id-1499");
    expect(again(0)).toBeUndefined();
  });
});
