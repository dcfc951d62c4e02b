import { execFileSync } from "node:child_process";
import { createContext, runInContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { canonicalize } from "../../src/key/canonical.ts";

const textOf = (value: unknown): string => canonicalize(value, "intent").text;

describe("text", () => {
  test("the sample of RFC 8785 section 3.2.2 comes out as printed there", () => {
    const sample = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`);
    expect(textOf(sample)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test("keys are sorted by UTF-16 units, as in RFC 8785 section 3.2.3, after NFC", () => {
    const sample = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    };
    // NFC takes U+FB33 apart, so it sorts before the euro and not, as in the RFC, at the end.
    const order = ["\r", "1", "\u0080", "ö", "\u05d3\u05bc", "€", "\ud83d\ude00"];
    expect(Object.keys(JSON.parse(textOf(sample))).sort()).toEqual(order);
    const positions = order.map((name) => textOf(sample).indexOf(`${JSON.stringify(name)}:`));
    expect(positions).toEqual(positions.toSorted((a, b) => a - b));
    expect(positions).not.toContain(-1);
  });

  test("a surrogate pair sorts before a high character of the basic plane", () => {
    expect(textOf({ "\uff21": 1, "\u{1f600}": 2, "€": 3 })).toBe(
      '{"€":3,"\u{1f600}":2,"\uff21":1}',
    );
  });

  test("keys that look like numbers are sorted as text", () => {
    expect(textOf({ 9: 1, 10: 2, a: 3 })).toBe('{"10":2,"9":1,"a":3}');
  });

  test.each([16, 17, 100])("%i keys are sorted, in whatever order they were written", (count) => {
    const names = Array.from({ length: count }, (_, i) => `k${i + 100}`);
    const shuffled = names.toSorted((a, b) => (a.slice(-1) < b.slice(-1) ? 1 : -1));
    expect(shuffled).not.toEqual(names);
    const value = Object.fromEntries(shuffled.map((name) => [name, 1]));
    expect(textOf(value)).toBe(`{${names.map((name) => `"${name}":1`).join(",")}}`);
  });

  test("quotes, backslashes and control characters are escaped in keys as in values", () => {
    expect(textOf({ 'a"b': 'a"b', "a\\b": "a\\b", "a\nb": "a\nb", ab: 1 })).toBe(
      String.raw`{"a\nb":"a\nb","a\"b":"a\"b","a\\b":"a\\b","ab":1}`,
    );
  });

  // RFC 8785, appendix B.
  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("the double %s is written %s", (bits, text) => {
    expect(textOf(Buffer.from(bits, "hex").readDoubleBE())).toBe(text);
  });

  test("1 and 1.0, and 0 and -0, are equal", () => {
    expect(textOf(JSON.parse('{"a":1.0,"b":-0}'))).toBe(textOf({ a: 1, b: 0 }));
  });

  test("composed and decomposed text are equal, in values and in keys", () => {
    expect(textOf({ "cafe\u0301": "Mu\u0308ller" })).toBe(textOf({ "caf\u00e9": "M\u00fcller" }));
  });

  test("characters outside the basic plane, U+2028 and DEL are written as they are", () => {
    expect(textOf("\u{1f600}\u2028\u007f")).toBe('"\u{1f600}\u2028\u007f"');
  });

  test("a property that is undefined is left out", () => {
    expect(textOf({ a: undefined, b: 1, c: undefined })).toBe('{"b":1}');
    expect(textOf({ a: undefined })).toBe("{}");
  });

  test("only own enumerable properties with string keys count", () => {
    const value = { a: 1, [Symbol("hidden")]: 2 };
    Object.defineProperty(value, "quiet", { value: 3, enumerable: false });
    expect(textOf(value)).toBe('{"a":1}');
  });

  test("the same object may stand in several places", () => {
    const shared = { x: 1 };
    expect(textOf([shared, shared, { shared }])).toBe('[{"x":1},{"x":1},{"shared":{"x":1}}]');
  });

  test("objects without a prototype and objects of another realm are plain", () => {
    const foreign: unknown = runInContext('({ a: [{ b: "c" }] })', createContext());
    expect(textOf(foreign)).toBe('{"a":[{"b":"c"}]}');
    expect(textOf(Object.assign(Object.create(null), { a: 1 }))).toBe('{"a":1}');
  });

  test("an honest proxy is read through", () => {
    expect(textOf(new Proxy({ b: new Proxy([1, 2], {}), a: 1 }, {}))).toBe('{"a":1,"b":[1,2]}');
  });

  test("values that JavaScript likes to confuse have different texts", () => {
    const values = [
      ...[0, "0", false, "false", null, "null", "", [], {}, [[]], [{}], [null], { a: null }],
      ...[1, "1", [1], ["1"], { 0: 1 }, { 0: "1" }, ["1,2"], ["1", "2"], [["1"], "2"], [12]],
      ...['"', "\\", '\\"', "\\u0000", "\0", "\n", "\\n", { a: 1, b: 2 }, [{ a: 1 }, { b: 2 }]],
    ];
    expect(new Set(values.map(textOf)).size).toBe(values.length);
  });

  test("empty values keep their kind", () => {
    expect(textOf([{}, [], "", 0, null, false])).toBe('[{},[],"",0,null,false]');
  });
});

describe("value", () => {
  test("it is frozen at every level", () => {
    const { value } = canonicalize({ a: [{ b: [1] }] }, "intent");
    const unfrozen: unknown[] = [];
    const walk = (inner: unknown): void => {
      if (typeof inner !== "object" || inner === null) return;
      if (!Object.isFrozen(inner)) unfrozen.push(inner);
      Object.values(inner).forEach(walk);
    };
    walk(value);
    expect(unfrozen).toEqual([]);
    expect(() => Object.assign(Object(value), { a: 1 })).toThrow(TypeError);
  });

  test("a later change to the original reaches neither copy nor text", () => {
    const original = { items: [{ price: 1 }], note: "a" };
    const { value, text } = canonicalize(original, "intent");
    original.items.push({ price: 2 });
    Object.assign(original.items[0] ?? {}, { price: 99 });
    original.note = "b";
    expect(value).toEqual({ items: [{ price: 1 }], note: "a" });
    expect(text).toBe('{"items":[{"price":1}],"note":"a"}');
  });

  test("the original is left unfrozen and in its own order", () => {
    const original = { b: [1], a: {} };
    canonicalize(original, "intent");
    expect(Object.keys(original)).toEqual(["b", "a"]);
    expect([original, original.b, original.a].some(Object.isFrozen)).toBe(false);
  });

  test("its strings and keys are as they were given, whatever Unicode form the text has", () => {
    const { value, text } = canonicalize({ "e\u0301": ["o\u0308", -0] }, "intent");
    expect(value).toStrictEqual({ "e\u0301": ["o\u0308", 0] });
    expect(text).toBe('{"\u00e9":["\u00f6",0]}');
  });

  test("a key called __proto__ is a key and reaches no prototype", () => {
    const { value, text } = canonicalize(
      JSON.parse('{"__proto__":{"admin":true},"a":1}'),
      "intent",
    );
    expect(text).toBe('{"__proto__":{"admin":true},"a":1}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(Object(value))).toEqual(["__proto__", "a"]);
    expect(Object(value).admin).toBeUndefined();
    expect(Object({}).admin).toBeUndefined();
  });

  test("names that every object inherits are kept like others", () => {
    const given = { constructor: "a", toString: "b", hasOwnProperty: "c", valueOf: 1 };
    const { value, text } = canonicalize(given, "intent");
    expect(value).toStrictEqual(given);
    expect(JSON.parse(text)).toStrictEqual(given);
  });

  test("a proxy that answers differently each time is read once: copy and text agree", () => {
    let answer = 0;
    const fickle = new Proxy(
      { n: 0 },
      {
        getOwnPropertyDescriptor: () => {
          answer += 1;
          return { value: answer, enumerable: true, configurable: true, writable: true };
        },
      },
    );
    const { value, text } = canonicalize(fickle, "intent");
    expect(text).toBe(JSON.stringify(value));
  });

  test.each([
    ["a frozen Object.prototype", [], "Object.freeze(Object.prototype);"],
    ["--disable-proto=throw", ["--disable-proto=throw"], ""],
    ["--disable-proto=delete", ["--disable-proto=delete"], ""],
  ])("it works under %s", (_name, flags, before) => {
    const source = new URL("../../src/key/canonical.ts", import.meta.url).href;
    const given = '{"toString":1,"constructor":{"__proto__":[2]},"__proto__":3}';
    const script = `
      const { canonicalize } = await import(${JSON.stringify(source)});
      ${before}
      const { text, value } = canonicalize(JSON.parse(${JSON.stringify(given)}), "intent");
      console.log(text === JSON.stringify(value) ? text : "they differ");`;
    const args = [...flags, "--input-type=module", "--no-warnings", "-e", script];
    expect(execFileSync(process.execPath, args, { encoding: "utf8" }).trim()).toBe(
      '{"__proto__":3,"constructor":{"__proto__":[2]},"toString":1}',
    );
  });
});
