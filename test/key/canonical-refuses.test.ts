import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import { canonicalize, DEFAULT_LIMITS, type Limits } from "../../src/key/canonical.ts";

function refusal(value: unknown, limits?: Limits): InvalidInputError {
  try {
    canonicalize(value, "intent", limits);
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

/** `count` arrays, one in another. */
function nested(count: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < count; level += 1) value = [value];
  return value;
}

describe("what JSON cannot carry", () => {
  class Money {
    readonly amount = 1;
  }
  const sparse: unknown[] = [1];
  sparse[2] = 3;

  test.each([
    ["a Map", new Map([["a", 1]])],
    ["a Set", new Set([1])],
    ["a Date", new Date(0)],
    ["a class instance", new Money()],
    ["an object that inherits data", Object.create({ a: 1 })],
    ["an object that inherits from a bare one", Object.create(Object.create(null))],
    ["a typed array", new Uint8Array(2)],
    ["a Buffer", Buffer.from("a")],
    ["an ArrayBuffer", new ArrayBuffer(1)],
    ["a RegExp", /a/],
    ["an Error", new Error("a")],
    ["a Promise", Promise.resolve()],
    ["a boxed string", Object("a")],
    ["NaN", Number.NaN],
    ["Infinity", Number.POSITIVE_INFINITY],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["a bigint", 1n],
    ["a symbol", Symbol("a")],
    ["a function", () => 1],
    ["a class", Money],
    ["a lone high surrogate", "a\ud800"],
    ["a lone low surrogate", "\udc00a"],
    ["surrogates the wrong way round", "\udc00\ud800"],
  ])("%s is refused at the top, in an object and in an array, with its path", (_name, value) => {
    expect(refusal(value).path).toBe("intent");
    expect(refusal({ items: [0, { price: value }] }).path).toBe("intent.items[1].price");
    expect(refusal([value]).path).toBe("intent[0]");
  });

  test("undefined is refused at the top and in arrays", () => {
    expect(refusal(undefined).message).toContain("intent: must be JSON, not undefined.");
    expect(refusal({ a: [1, undefined] }).path).toBe("intent.a[1]");
  });

  test("who gives a bigint is told what to give instead", () => {
    expect(refusal(1n).message).toContain("must be JSON, not a bigint. Pass it as a string.");
  });

  test("a sparse array is refused at its first hole", () => {
    expect(refusal({ a: sparse })).toMatchObject({
      path: "intent.a[1]",
      message: expect.stringContaining("hole"),
    });
    expect(refusal(new Array(3)).path).toBe("intent[0]");
  });

  test("toJSON is never called: an object that has one is refused for the function", () => {
    let calls = 0;
    const value = { a: 1, toJSON: () => (calls += 1) };
    expect(refusal(value).path).toBe("intent.toJSON");
    expect(calls).toBe(0);
  });

  test("a getter is refused and does not run, in objects and in arrays", () => {
    let calls = 0;
    const trap = { get: () => (calls += 1), enumerable: true };
    expect(refusal({ a: Object.defineProperty({}, "b", trap) }).path).toBe("intent.a.b");
    expect(refusal({ a: Object.defineProperty([], 0, trap) }).path).toBe("intent.a[0]");
    expect(refusal(Object.defineProperty({}, "c", { set: () => {}, enumerable: true })).path).toBe(
      "intent.c",
    );
    expect(calls).toBe(0);
  });

  test("the class is named, and naming it runs no getter", () => {
    expect(refusal({ when: new Date(0) }).message).toContain('not an instance of "Date"');
    const prototype = {
      get constructor(): never {
        throw new Error("it ran");
      },
    };
    expect(refusal(Object.create(prototype)).message).toContain("not an instance of a class");
  });

  test("a value that contains itself is refused where it comes round", () => {
    const ring: Record<string, unknown> = { a: { b: [] } };
    Object.assign(ring, { a: { b: [ring] } });
    const list: unknown[] = [];
    list.push(list);
    expect(refusal(ring)).toMatchObject({
      path: "intent.a.b[0]",
      message: expect.stringContaining("contain itself"),
    });
    expect(refusal(list).path).toBe("intent[0]");
  });

  test("two keys that are one in NFC are refused", () => {
    expect(refusal({ deep: { "\u00e9": 1, "e\u0301": 2 } }).path).toBe('intent.deep["e\u0301"]');
  });

  test("a key with a lone surrogate is refused", () => {
    expect(refusal({ "\ud800": 1 }).path).toBe(String.raw`intent["\ud800"]`);
  });
});

describe("proxies", () => {
  const fail = (): never => {
    throw new Error("secret");
  };

  test.each([
    ["ownKeys", new Proxy({}, { ownKeys: fail })],
    ["getPrototypeOf", new Proxy({}, { getPrototypeOf: fail })],
    ["getOwnPropertyDescriptor", new Proxy({ x: 1 }, { getOwnPropertyDescriptor: fail })],
    ["get, for the length of an array", new Proxy([1], { get: fail })],
  ])("one that throws in %s is refused, and its error is not passed on", (_name, value) => {
    const error = refusal({ a: value });
    expect(error.path.startsWith("intent.a")).toBe(true);
    expect(error.message).not.toContain("secret");
    expect(error.cause).toBeUndefined();
  });

  test("a revoked one is refused", () => {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    expect(refusal([proxy]).path).toBe("intent[0]");
  });

  test("one that grows without end is stopped by a limit", () => {
    const endless = (): object =>
      new Proxy(
        {},
        {
          ownKeys: () => ["x"],
          getOwnPropertyDescriptor: () => ({
            value: endless(),
            enumerable: true,
            configurable: true,
          }),
        },
      );
    expect(refusal(endless()).message).toContain("64 levels");
    const long = new Proxy([], { get: () => Number.POSITIVE_INFINITY });
    expect(refusal(long).message).toContain("100000 values");
  });
});

describe("limits", () => {
  test("the defaults are 64 levels, 100,000 values and a megabyte", () => {
    expect(DEFAULT_LIMITS).toEqual({ depth: 64, nodes: 100_000, bytes: 1_048_576 });
  });

  test("64 levels pass and 65 do not", () => {
    expect(canonicalize(nested(64), "intent").text).toBe("[".repeat(64) + "]".repeat(64));
    expect(refusal(nested(65))).toMatchObject({
      path: `intent${"[0]".repeat(64)}`,
      message: expect.stringContaining("64 levels"),
    });
  });

  test("a hundred thousand levels are refused without overflowing the stack", () => {
    expect(refusal(nested(100_000)).message).toContain("64 levels");
    let object: object = {};
    for (let level = 0; level < 100_000; level += 1) object = { object };
    expect(refusal(object).message).toContain("64 levels");
  });

  test("all values count, at every level", () => {
    const limits = { ...DEFAULT_LIMITS, nodes: 5 };
    expect(canonicalize({ a: [1, 2], b: 3 }, "intent", limits).text).toBe('{"a":[1,2],"b":3}');
    expect(refusal({ a: [1, 2], b: 3, c: 4 }, limits).message).toContain("5 values");
    expect(refusal({ a: [1, 2, 3, 4, 5] }, limits).message).toContain("5 values");
    expect(refusal(new Array(100_001).fill(0)).message).toContain("100000 values");
    expect(refusal(new Array(1e9)).message).toContain("100000 values");
  });

  test("as many values as the limit pass, and one more does not", () => {
    const limits = { ...DEFAULT_LIMITS, nodes: 5 };
    expect(canonicalize([1, 2, 3, 4], "intent", limits).text).toBe("[1,2,3,4]");
    expect(refusal([1, 2, 3, 4, 5], limits).path).toBe("intent");
    const four = { a: 1, b: 2, c: 3, d: 4 };
    expect(canonicalize(four, "intent", limits).value).toEqual(four);
    expect(refusal({ ...four, e: 5 }, limits).path).toBe("intent");
    expect(canonicalize(1, "intent", { ...limits, nodes: 1 }).text).toBe("1");
  });

  test("a shared object counts each time, so that a small bomb stays small", () => {
    let bomb: unknown = "x";
    for (let level = 0; level < 40; level += 1) bomb = [bomb, bomb];
    expect(refusal(bomb).message).toContain("100000 values");
  });

  test("the text is counted in bytes of UTF-8", () => {
    const limits = { ...DEFAULT_LIMITS, bytes: 10 };
    expect(canonicalize("12345678", "intent", limits).text).toHaveLength(10);
    expect(refusal("123456789", limits).message).toContain("10 bytes");
    expect(canonicalize("éééé", "intent", limits).text).toHaveLength(6);
    expect(refusal("ééééé", limits).message).toContain("10 bytes");
    expect(refusal({ abcdefghijk: 1 }, limits).message).toContain("10 bytes");
    expect(refusal({ é23456789: 1 }, limits).message).toContain("10 bytes");
    expect(refusal([1, 2, 3, 4, 5], limits).message).toContain("10 bytes");
  });

  test("a megabyte passes and a byte more does not", () => {
    const most = DEFAULT_LIMITS.bytes - 2;
    expect(canonicalize("x".repeat(most), "intent").text).toHaveLength(DEFAULT_LIMITS.bytes);
    expect(refusal("x".repeat(most + 1)).message).toContain("1048576 bytes");
    expect(refusal("x".repeat(2 ** 28)).message).toContain("1048576 bytes");
  });

  test("what goes too far is refused where it stands, before the rest is read", () => {
    const wide = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`k${i}`, i]));
    const limits = { depth: 9, nodes: 9, bytes: 9 };
    expect(refusal({ a: { b: "0123456789" } }, limits).path).toBe("intent.a.b");
    expect(refusal({ a: 1, b23456789: 1, c: 1 }, limits).path).toBe("intent.b23456789");
    expect(refusal({ a: wide }, limits).path).toBe("intent.a");
    expect(refusal({ a: Object.values(wide) }, limits).path).toBe("intent.a");
  });
});

describe("paths", () => {
  test("what stands behind a nested value has its own path", () => {
    expect(refusal({ a: [[1], 2], b: Number.NaN }).path).toBe("intent.b");
    expect(refusal({ a: { x: { y: 1 } }, b: Number.NaN }).path).toBe("intent.b");
    expect(refusal([[1], { x: 1 }, [], {}, Number.NaN]).path).toBe("intent[4]");
  });

  test("a text that its quotes alone make too long is refused as a whole", () => {
    const limits = { ...DEFAULT_LIMITS, bytes: 6 };
    expect(refusal({ a: "12345" }, limits).path).toBe("intent");
    expect(refusal({ a: "123456" }, limits).path).toBe("intent.a");
  });

  test("names that are no identifiers are quoted, long ones cut", () => {
    expect(refusal({ "odd key": { "1st": Number.NaN } }).path).toBe('intent["odd key"]["1st"]');
    expect(refusal({ "a\nb": 1n }).path).toBe(String.raw`intent["a\nb"]`);
    expect(refusal({ ["k".repeat(100_000)]: 1n }).path.length).toBeLessThan(100);
  });

  test("the error names the rule and points at its documentation", () => {
    expect(refusal({ price: Number.NaN })).toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
      message:
        "intent.price: must be a finite number, not NaN. See node_modules/holdfire/docs/errors.md#invalid-input",
    });
  });
});
