import { describe, expect, it } from "vitest";
import { causes, peek, peekItems, tryCall } from "../../src/lang/peek.ts";
import { HOSTILE } from "./hostile.ts";

describe("peek", () => {
  it("reads own and inherited properties of objects and functions", () => {
    class Base {
      get code() {
        return "inherited";
      }
    }
    expect(peek(new Base(), "code")).toBe("inherited");
    expect(
      peek(
        Object.assign(() => {}, { code: 1 }),
        "code",
      ),
    ).toBe(1);
  });

  it("finds nothing on primitives", () => {
    expect(peek("text", "length")).toBeUndefined();
    expect(peek(null, "x")).toBeUndefined();
  });

  it.each(HOSTILE)("never throws on %s", (_, value) => {
    for (const key of ["code", "cause", "headers", Symbol.iterator]) {
      expect(() => peek(value, key)).not.toThrow();
      expect(() => tryCall(value, key)).not.toThrow();
    }
    expect(() => peekItems(value, 4)).not.toThrow();
    expect(() => causes(value)).not.toThrow();
  });
});

describe("tryCall", () => {
  it("calls with the right this and arguments", () => {
    expect(tryCall(new Map([["a", 1]]), "get", "a")).toBe(1);
  });

  it("gives undefined where the method throws or is none", () => {
    expect(tryCall({ get: Map.prototype.get }, "get", "a")).toBeUndefined();
    expect(tryCall({ get: 1 }, "get")).toBeUndefined();
  });
});

describe("peekItems", () => {
  it("takes no more than the limit, and only from arrays", () => {
    expect(peekItems([1, 2, 3], 2)).toEqual([1, 2]);
    expect(peekItems({ length: 2, 0: 1 }, 2)).toEqual([]);
  });
});

describe("causes", () => {
  it("lists the value and its causes, outermost first", () => {
    const inner = new Error("inner");
    const outer = new Error("outer", { cause: inner });
    expect(causes(outer)).toEqual([outer, inner]);
    expect(causes(undefined)).toEqual([]);
  });

  it("ends at a cycle and after eight causes", () => {
    const cycle: { cause?: unknown } = {};
    cycle.cause = { cause: cycle };
    expect(causes(cycle)).toHaveLength(2);
    let deep: object = {};
    for (let i = 0; i < 20; i += 1) deep = { cause: deep };
    expect(causes(deep)).toHaveLength(9);
  });
});
