import fc from "fast-check";
import { validate, version } from "uuid";
import { describe, expect, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import { canonicalize } from "../../src/key/canonical.ts";
import { digestText } from "../../src/key/digest.ts";
import {
  fingerprint,
  hashArguments,
  hashFields,
  isWireKey,
  mintId,
  mintIdFromKey,
  rewordedFields,
  wireKey,
  wireKeys,
} from "../../src/key/mint.ts";

const naming = {
  app: "billing-agent",
  tenant: "acme",
  scope: "conversation-7/turn-3",
  tool: "refund_payment",
  intent: '{"amount":400,"paymentId":"p1"}',
};
const id = mintId(naming);

describe("mintId", () => {
  test("an id never changes between versions of the package", () => {
    expect(id).toBe("vF2lCGGqK1OfoU5xuh40lmqQIeMTX4KT1uj6ox_UJNk");
    expect(mintIdFromKey({ ...naming, key: "k" })).toBe(
      "Wcde8xwSCV3wIliWvKAp7bNDZUXxAzlF67dQjpEweTo",
    );
    expect(wireKey(id, 0)).toBe("bc5da508-61aa-8b53-9fa1-4e71ba1e3496");
    expect(wireKey(id, 1)).toBe("61d0d21c-2791-8749-941c-4d714482a785");
    const odd = { app: undefined, tenant: "ß".repeat(20), scope: "s\u001fü", tool: "отправить" };
    expect(mintId({ ...odd, again: "zweites Mal", intent: '{"to":"Zoë 😀"}' })).toBe(
      "oZKE_h0D01evTsSxVm87rvKCdoUqpIif1m82eR1gutk",
    );
    expect(mintIdFromKey({ ...odd, key: "Schlüssel" })).toBe(
      "2dJkTsKADymnVxNkMaOOsrkahb9pTZGltIibFCiWbX8",
    );
  });

  test("an id does not depend on which were minted before it", () => {
    const parts = fc.record({
      app: fc.constantFrom(undefined, "", "a", "b"),
      tenant: fc.constantFrom("", "a", "b", "default"),
      scope: fc.constantFrom("s", "conversation-7/turn-3"),
      tool: fc.constantFrom("pay", "refund_payment"),
      again: fc.constantFrom(undefined, "", "second"),
      intent: fc.constantFrom("{}", '{"a":"é"}'),
    });
    fc.assert(
      fc.property(fc.array(parts), (calls) => {
        for (const { app, tenant, scope, tool, again, intent } of calls) {
          const expected = digestText("operation", app, tenant, scope, tool, again, intent);
          expect(mintId({ app, tenant, scope, tool, again, intent })).toBe(expected);
        }
      }),
      { seed: 43, numRuns: 200 },
    );
  });

  test("an id is 43 characters of base64url", () => {
    expect(id).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  test("app, tenant, scope, tool, again and intent each make another operation", () => {
    const others = [
      { ...naming, app: "support-agent" },
      { ...naming, app: undefined },
      { ...naming, tenant: "acme2" },
      { ...naming, scope: "conversation-7/turn-4" },
      { ...naming, tool: "refund" },
      { ...naming, again: "second" },
      { ...naming, again: "" },
      { ...naming, intent: "{}" },
    ];
    expect(new Set([id, ...others.map(mintId)]).size).toBe(others.length + 1);
  });

  test("again: undefined is the same as none", () => {
    expect(mintId({ ...naming, again: undefined })).toBe(id);
  });

  test("text that moves from one field to the next makes another operation", () => {
    const one = mintId({ ...naming, tenant: "ab", scope: "c" });
    expect(mintId({ ...naming, tenant: "a", scope: "bc" })).not.toBe(one);
  });

  test("a caller's key depends on app, tenant and tool, and is never the id of a scope and intent", () => {
    const own = { app: "a", tenant: "t", tool: "x", key: "k" };
    const ids = [
      mintIdFromKey(own),
      mintIdFromKey({ ...own, app: undefined }),
      mintIdFromKey({ ...own, tenant: "u" }),
      mintIdFromKey({ ...own, tool: "y" }),
      mintIdFromKey({ ...own, key: "l" }),
      mintId({ app: "a", tenant: "t", scope: "k", tool: "x", intent: "k" }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("wireKey", () => {
  test("every key is a UUID of version 8 and of the RFC's variant", () => {
    fc.assert(
      fc.property(fc.string(), fc.nat({ max: 65_535 }), (intent, generation) => {
        const key = wireKey(mintId({ ...naming, intent }), generation);
        expect(key).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
        expect(validate(key) && version(key)).toBe(8);
      }),
      { seed: 8, numRuns: 500 },
    );
  });

  test("generation 0 is the first 16 bytes of the id, but for version and variant", () => {
    const bytes = Buffer.from(wireKey(id, 0).replaceAll("-", ""), "hex");
    const source = Buffer.from(id, "base64url").subarray(0, 16);
    const differing = [...bytes.keys()].filter((index) => bytes[index] !== source[index]);
    expect(differing.every((index) => index === 6 || index === 8)).toBe(true);
    expect(bytes.readUInt8(6) & 0x0f).toBe(source.readUInt8(6) & 0x0f);
    expect(bytes.readUInt8(8) & 0x3f).toBe(source.readUInt8(8) & 0x3f);
  });

  test("each generation has another key, and wireKeys has them all, oldest first", () => {
    const keys = wireKeys(id, 20);
    expect(keys).toEqual(Array.from({ length: 21 }, (_, generation) => wireKey(id, generation)));
    expect(new Set(keys).size).toBe(21);
    expect(wireKeys(id, 0)).toEqual([wireKey(id, 0)]);
  });

  test.each([-1, 0.5, Number.NaN, 65_536, Number.POSITIVE_INFINITY])(
    "the generation %d is refused",
    (generation) => {
      expect(() => wireKey(id, generation)).toThrow(InvalidInputError);
      expect(() => wireKeys(id, generation)).toThrow(InvalidInputError);
    },
  );

  test("a key that was minted here is told from any other UUID, and from a caller's own key", () => {
    for (const generation of [0, 1, 65_535]) {
      expect(isWireKey(wireKey(id, generation))).toBe(true);
    }
    expect(isWireKey("bc5da508-61aa-4b53-9fa1-4e71ba1e3496")).toBe(false);
    expect(isWireKey("order-7")).toBe(false);
  });

  test("an id that is not written as base64url has the key of the bytes it is read as", () => {
    const other = [`${id}=`, `${id}!`, ` ${id}`, `${id.slice(0, 9)}\n${id.slice(9)}`];
    for (const written of other) expect(wireKey(written, 0)).toBe(wireKey(id, 0));
    const slashes = Buffer.alloc(32, 0xff).toString("base64");
    expect(wireKey(slashes, 0)).toBe("ffffffff-ffff-8fff-bfff-ffffffffffff");
  });

  test("16 bytes are enough for a key, one less is not", () => {
    const bytes = Buffer.alloc(16, 7);
    expect(wireKey(bytes.toString("base64url"), 0)).toBe("07070707-0707-8707-8707-070707070707");
    expect(() => wireKey(bytes.subarray(1).toString("base64url"), 0)).toThrow(InvalidInputError);
  });

  test("what is no id has no key", () => {
    expect(() => wireKey("short", 0)).toThrow(InvalidInputError);
    expect(() => wireKey("short", 1)).toThrow(InvalidInputError);
  });
});

describe("fingerprint and hashes", () => {
  test("a fingerprint depends on tool and intent", () => {
    const all = [fingerprint("a", "{}"), fingerprint("b", "{}"), fingerprint("a", "[]")];
    expect(new Set(all).size).toBe(3);
    expect(fingerprint("a", "{}")).toBe(all[0]);
  });

  test("equal arguments of two operations have different hashes", () => {
    expect(hashArguments("{}", "id-1")).not.toBe(hashArguments("{}", "id-2"));
    expect(hashArguments("{}", "id-1")).toBe(hashArguments("{}", "id-1"));
    expect(hashArguments("{}", "id-1")).not.toBe(hashArguments("[]", "id-1"));
  });

  test("the same text has another hash in each role", () => {
    expect(new Set([fingerprint("a", "b"), hashArguments("b", "a")]).size).toBe(2);
  });
});

describe("hashFields", () => {
  const fieldsOf = (args: unknown, of = id): Record<string, string> =>
    hashFields(canonicalize(args, "args").value, of);

  test("each argument has a hash of eight characters, salted by operation and name", () => {
    const fields = fieldsOf({ a: "x", b: "x", c: { d: [1] } });
    expect(Object.keys(fields)).toEqual(["a", "b", "c"]);
    for (const hash of Object.values(fields)) expect(hash).toMatch(/^[A-Za-z0-9_-]{8}$/);
    expect(fields.a).not.toBe(fields.b);
    expect(fieldsOf({ a: "x" }, "another").a).not.toBe(fields.a);
  });

  test("the order of keys inside an argument makes no difference", () => {
    const one = hashFields({ a: { x: 1, y: 2 } }, id);
    expect(hashFields({ a: { y: 2, x: 1 } }, id)).toEqual(one);
  });

  test("values of another kind have another hash", () => {
    const hashes = [1, "1", [1], { 1: 1 }, null, "null", true].map((a) => fieldsOf({ a }).a);
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test.each([[null], ["text"], [1], [[1, 2]]])("%j has no fields", (args) => {
    expect(fieldsOf(args)).toEqual({});
  });

  test("the first 64 names in order are kept, and none longer than 128 characters", () => {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`k${100 + i}`, i]));
    const kept = Object.keys(fieldsOf(many));
    expect(kept).toHaveLength(64);
    expect(kept.at(-1)).toBe("k163");
    const long = { ["n".repeat(128)]: 1, ["m".repeat(129)]: 1 };
    expect(Object.keys(fieldsOf(long))).toEqual(["n".repeat(128)]);
  });

  test("the names that are kept do not depend on the order in which arguments were written", () => {
    const names = Array.from({ length: 100 }, (_, i) => `k${100 + i}`);
    const inOrder = Object.fromEntries(names.map((name) => [name, 1]));
    const reversed = Object.fromEntries(names.toReversed().map((name) => [name, 1]));
    expect(hashFields(reversed, id)).toEqual(hashFields(inOrder, id));
    expect(Object.keys(hashFields(reversed, id))).toEqual(names.slice(0, 64));
  });

  test("an argument called __proto__ is a field like others", () => {
    const fields = fieldsOf(JSON.parse('{"__proto__":1}'));
    expect(Object.keys(fields)).toEqual(["__proto__"]);
    expect(rewordedFields(fields, {})).toEqual(["__proto__"]);
    expect(rewordedFields(fields, fieldsOf(JSON.parse('{"__proto__":2}')))).toEqual(["__proto__"]);
    expect(rewordedFields(fields, fieldsOf(JSON.parse('{"__proto__":1}')))).toEqual([]);
  });
});

describe("rewordedFields", () => {
  test("names that differ or stand on one side only are given, sorted", () => {
    const before = { same: "1", reason: "2", gone: "3" };
    const now = { same: "1", reason: "4", added: "5" };
    expect(rewordedFields(before, now)).toEqual(["added", "gone", "reason"]);
    expect(rewordedFields(now, now)).toEqual([]);
    expect(rewordedFields({}, {})).toEqual([]);
  });

  test("an inherited name is no field", () => {
    expect(rewordedFields({ toString: "1" }, {})).toEqual(["toString"]);
    expect(rewordedFields({}, {})).not.toContain("toString");
  });
});
