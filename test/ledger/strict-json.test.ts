import { isBoxedPrimitive, isMap, isNativeError, isSet } from "node:util/types";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Written, writeJson } from "../../src/ledger/codec/strict-json.ts";

const ENOUGH = 1_000_000;

const textOf = (value: unknown): string => {
  const written = writeJson(value, ENOUGH);
  if (written.tag !== "text") throw new Error(JSON.stringify(written));
  return written.text;
};

const whyNot = (value: unknown, maxBytes = ENOUGH): string => {
  const written = writeJson(value, maxBytes);
  if (written.tag !== "refused") throw new Error(`${JSON.stringify(written)} was not refused`);
  return written.why;
};

class Receipt {
  readonly id = "re_1";
  readonly #secret = "hidden";
  get secret(): string {
    return this.#secret;
  }
}

class Money {
  readonly #cents = 400;
  toJSON(): unknown {
    return { cents: this.#cents };
  }
}

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}

describe("what JSON can carry", () => {
  test("is written as JSON.stringify writes it", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        expect(textOf(value)).toBe(JSON.stringify(value));
      }),
      { seed: 1, numRuns: 1_000 },
    );
  });

  test("comes back the same, minus zero and broken surrogates included", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: "binary" }), (value) => {
        expect(JSON.parse(textOf(value))).toEqual(value);
      }),
      { seed: 2, numRuns: 1_000 },
    );
    expect(JSON.parse(textOf({ zero: -0, half: "\ud800" }))).toEqual({ zero: -0, half: "\ud800" });
  });

  test.each([
    ["a date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
    ["a value with toJSON", { amount: new Money() }, '{"amount":{"cents":400}}'],
    ["an instance with data of its own", new Receipt(), '{"id":"re_1"}'],
    ["an undefined property, which is dropped", { a: undefined, b: 1 }, '{"b":1}'],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), '{"a":1}'],
    ["an empty object of another realm", runInNewContext("({})"), "{}"],
    ["an array of another realm", runInNewContext("[1]"), "[1]"],
    ["a boxed string", Object("a"), '"a"'],
    ["the same object twice", ((same) => [same, same])({ a: 1 }), '[{"a":1},{"a":1}]'],
    ["a key called __proto__", JSON.parse('{"__proto__":{"a":1}}'), '{"__proto__":{"a":1}}'],
    ["null", null, "null"],
  ])("is written as JSON sees it: %s", (_, value, text) => {
    expect(textOf(value)).toBe(text);
  });

  test("gives toJSON the key it stands under", () => {
    const named = { toJSON: (key: string) => key };
    expect(textOf({ a: named, b: [named] })).toBe('{"a":"a","b":["0"]}');
  });
});

describe("what JSON cannot carry", () => {
  const circular: { self?: unknown } = {};
  circular.self = { deeper: [circular] };

  test.each([
    ["a function", { items: [{ run: () => 1 }] }, "value.items[0].run: a function"],
    ["a symbol", { a: Symbol("secret") }, "value.a: a symbol"],
    ["a BigInt", { a: 1n }, "value.a: a bigint"],
    ["a boxed BigInt", { a: Object(1n) }, "value.a: a bigint"],
    ["NaN", [Number.NaN], "value[0]: not a finite number"],
    ["Infinity", { a: Number.POSITIVE_INFINITY }, "value.a: not a finite number"],
    ["undefined in an array", { a: [1, undefined] }, "value.a[1]: undefined inside an array"],
    [
      "a hole in an array",
      { a: Object.assign([], { length: 3 }) },
      "value.a[0]: undefined inside an array",
    ],
    [
      "an array of holes without end",
      Object.assign([], { length: 2 ** 32 - 1 }),
      "value[0]: undefined inside an array",
    ],
    ["a circle", circular, "value.self.deeper[0]: it contains itself"],
    ["a toJSON that throws", { a: { toJSON: thrower } }, "value.a: reading it throws"],
    [
      "a getter that throws",
      {
        get a() {
          return thrower();
        },
      },
      "value.a: reading it throws",
    ],
  ])("is refused, by place and kind: %s", (_, value, why) => {
    expect(whyNot(value)).toBe(why);
  });

  test.each([
    ["a Map", new Map([["a", 1]])],
    ["a Map with data of its own", Object.assign(new Map(), { a: 1 })],
    ["a Set", new Set([1])],
    ["a WeakMap", new WeakMap()],
    ["an error", new Error("secret")],
    ["an error with data of its own", Object.assign(new Error("secret"), { code: "E" })],
    ["bytes", new Uint8Array(2)],
    ["a buffer", new ArrayBuffer(2)],
    ["a promise", Promise.resolve(1)],
    ["a regular expression", /secret/],
    ["a Response", new Response("secret")],
    ["Headers", new Headers({ a: "secret" })],
    [
      "an instance that hides its data",
      new (class {
        #a = "secret";
        get a() {
          return this.#a;
        }
      })(),
    ],
    ["a Map of another realm", runInNewContext("new Map([[1, 2]])")],
  ])("is refused, not written as {}: %s", (_, value) => {
    expect(whyNot({ a: value })).toBe("value.a: an instance whose content JSON cannot carry");
  });

  test("is refused without a word of its content", () => {
    const key = "ana@example.org";
    expect(whyNot({ [key]: { secret: () => 1 } })).toBe("value[…].secret: a function");
    expect(whyNot({ a: new Proxy({}, { ownKeys: thrower }) })).toBe("value.a: reading it throws");
  });

  test("is named by its own place, whatever was written before it", () => {
    const value = { first: { a: [1, { b: 2 }] }, second: Symbol("x") };
    expect(whyNot(value)).toBe("value.second: a symbol");
    expect(whyNot([[1], undefined])).toBe("value[1]: undefined inside an array");
  });

  test("is refused in few words, however long the way to it", () => {
    let value: unknown = () => 1;
    for (let level = 0; level < 100; level++) value = { longish_name: value };
    expect(whyNot(value).length).toBeLessThan(200);
  });

  test("is refused, not overflowed by, at any depth", () => {
    expect(textOf(nested(500))).toBe(JSON.stringify(nested(500)));
    expect(whyNot(nested(501))).toMatch(/nested deeper than 500$/);
    expect(whyNot(nested(100_000))).toMatch(/nested deeper than 500$/);
  });

  test("is refused when it gives itself anew without end", () => {
    const endless = (): object => ({ toJSON: () => ({ more: endless() }) });
    expect(whyNot(endless())).toMatch(/nested deeper than 500$/);
  });
});

describe("any value", () => {
  /** Said plainly: what `JSON.stringify` writes, unless that would lose something. */
  function plainly(value: unknown): string | undefined {
    const text = JSON.stringify(value, function (this: unknown, _key: string, given: unknown) {
      const inner = isBoxedPrimitive(given) ? given.valueOf() : given;
      const isLost =
        ["function", "symbol", "bigint"].includes(typeof inner) ||
        (typeof inner === "number" && !Number.isFinite(inner)) ||
        (inner === undefined && Array.isArray(this)) ||
        (typeof inner === "object" && inner !== null && isOpaque(inner));
      if (isLost) throw new Error("lost");
      return Object.is(inner, -0) ? MINUS_ZERO : inner;
    });
    return text?.replaceAll(JSON.stringify(MINUS_ZERO), "-0");
  }

  const MINUS_ZERO = "\u0000minus zero";

  function isOpaque(value: object): boolean {
    if (Array.isArray(value)) return false;
    if (isMap(value) || isSet(value) || isNativeError(value) || ArrayBuffer.isView(value))
      return true;
    const prototype: unknown = Object.getPrototypeOf(value);
    const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
    return !isPlain && Object.keys(value).length === 0;
  }

  const outcome = (value: unknown): string | undefined => {
    try {
      return plainly(value);
    } catch {
      return "refused";
    }
  };

  const plain = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
    stringUnit: "binary",
    maxDepth: 3,
  });
  const { value: anything } = fc.letrec<{ value: unknown }>((tie) => {
    const value = tie("value");
    const key = fc.oneof(
      fc.constantFrom("a", "toJSON", "__proto__", "é\n"),
      fc.string({ maxLength: 70 }),
    );
    return {
      value: fc.oneof(
        { maxDepth: 3 },
        plain,
        fc.array(value, { maxLength: 4 }),
        fc.dictionary(key, value, { maxKeys: 4 }),
        // A boxed value that a `toJSON` returns is refused, where `JSON.stringify` would unbox it.
        value.map((inner) => ({ toJSON: () => (isBoxedPrimitive(inner) ? null : inner) })),
        value.map((inner) => ({
          get read() {
            return inner;
          },
        })),
        value.map((inner) => Object.assign(new Receipt(), { inner })),
        value.map((inner) => ({ inner, throws: new Proxy({}, { ownKeys: thrower }) })),
      ),
    };
  });

  test("is written as JSON.stringify writes it, or refused where that would lose something", () => {
    fc.assert(
      fc.property(anything, (value) => {
        const written = writeJson(value, ENOUGH);
        expect(written.tag === "text" ? written.text : tagOf(written)).toBe(outcome(value));
      }),
      { seed: 4, numRuns: 3_000 },
    );
  });

  const tagOf = ({ tag }: Written): string | undefined => (tag === "undefined" ? undefined : tag);
});

describe("the size limit", () => {
  test("counts bytes, to the last one", () => {
    for (const value of ["12345678", { a: "12" }, ["é", 1], { é: null }, [[], {}, 0], [true]]) {
      const bytes = Buffer.byteLength(JSON.stringify(value));
      expect(writeJson(value, bytes).tag).toBe("text");
      expect(whyNot(value, bytes - 1)).toBe(`larger than ${bytes - 1} bytes`);
    }
  });

  test("is exact for any value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const bytes = Buffer.byteLength(textOf(value));
        expect(writeJson(value, bytes).tag).toBe("text");
        expect(writeJson(value, bytes - 1).tag).toBe("refused");
      }),
      { seed: 3, numRuns: 1_000 },
    );
  });

  test("is said of a text that is too long by itself", () => {
    expect(whyNot("x".repeat(11), 10)).toBe("larger than 10 bytes");
  });
});

test("undefined, and what says it is undefined, is neither text nor refused", () => {
  expect(writeJson(undefined, ENOUGH)).toEqual({ tag: "undefined" });
  expect(writeJson({ toJSON: () => undefined }, ENOUGH)).toEqual({ tag: "undefined" });
});

function thrower(): never {
  throw new Error("secret");
}
