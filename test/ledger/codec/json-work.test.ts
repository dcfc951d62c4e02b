/** However large a value is, little more of it is read than may be stored. */
import { expect, test } from "vitest";
import { writeJson } from "../../../src/ledger/codec/strict-json.ts";

test.each([
  ["a text of ten characters", () => "x".repeat(10)],
  ["an object with such a text", () => ({ a: "x".repeat(10) })],
  ["null", () => null],
  ["an empty list", () => []],
  ["an empty object", () => ({})],
])("the work stops soon after the limit is passed, by many times %s", (_, item) => {
  const limit = 1_000;
  for (const many of [itemsRead(item), fieldsRead(item)]) {
    expect(writeJson(many.value, limit)).toEqual({
      tag: "refused",
      why: `larger than ${limit} bytes`,
    });
    // No more items than could be written in it, as each takes some bytes and a comma or a name.
    expect(many.read()).toBeLessThanOrEqual(Math.ceil(limit / many.leastBytes) + 2);
  }
});

/** A list of many items that counts how many of them are looked at. */
function itemsRead(item: () => unknown) {
  let read = 0;
  const get = (list: unknown[], key: PropertyKey): unknown => {
    if (typeof key !== "string" || !/^\d+$/.test(key)) return Reflect.get(list, key);
    read += 1;
    return item();
  };
  const value = new Proxy(new Array(10_000).fill(0), { get });
  const bare = item();
  const isCounted = typeof bare !== "object" || bare === null;
  return { value, read: () => read, leastBytes: (isCounted ? JSON.stringify(bare).length : 0) + 1 };
}

/** The same for the fields of an object, whose names have four characters. */
function fieldsRead(item: () => unknown) {
  let read = 0;
  const names = Array.from({ length: 9_000 }, (_, index) => `${index + 1_000}`);
  const get = (): unknown => {
    read += 1;
    return item();
  };
  const value = {};
  for (const name of names) Object.defineProperty(value, name, { get, enumerable: true });
  return { value, read: () => read, leastBytes: '"1000":'.length };
}
