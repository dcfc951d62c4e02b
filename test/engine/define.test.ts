import { describe, expect, test } from "vitest";
import { intentOf } from "../../src/engine/call/name-operation.ts";
import { positive, wholeNumber } from "../../src/engine/define/check.ts";
import { defineTool, type Registry } from "../../src/engine/define/define-tool.ts";
import type { Tool } from "../../src/engine/define/tool.ts";
import { InvalidInputError } from "../../src/errors.ts";
import { canonicalize } from "../../src/key/canonical.ts";

const BASE = { name: "refund", kind: "write", run: () => 1 };

const define = (rest: object = {}, registry: Registry = new Map()): Tool =>
  defineTool({ ...BASE, ...rest } as never, registry);

describe("the defaults of a tool", () => {
  test("are filled in", () => {
    expect(define()).toMatchObject({
      name: "refund",
      kind: "write",
      service: "refund",
      keyedForMs: undefined,
      conditional: false,
      readFirst: false,
      commitsWithinMs: undefined,
      refuses: [],
      alsoDoes: [],
      attemptTimeoutMs: 30_000,
      readTimeoutMs: 5_000,
      deadlineMs: 60_000,
      attempts: 3,
    });
    expect(define({ kind: "read" }).attempts).toBe(4);
    expect(define({ kind: "destructive" }).attempts).toBe(3);
  });

  test("without `intent`, all arguments are the intent", () => {
    const given = canonicalize({ a: 1 }, "args");
    expect(intentOf(define(), given)).toBe(given);
  });

  test("what is given wins", () => {
    expect(
      define({ service: "stripe", keyed: { forMs: 5 }, commitsWithinMs: 0, attempts: 1 }),
    ).toMatchObject({ service: "stripe", keyedForMs: 5, commitsWithinMs: 0, attempts: 1 });
  });
});

describe("a bad definition is refused, by name and option", () => {
  test.each([
    [{ nam: "x" }, "nam"],
    [{ retries: 3 }, "retries"],
    [{ kind: "delete" }, "kind"],
    [{ kind: undefined }, "kind"],
    [{ run: undefined }, "run"],
    [{ run: "curl" }, "run"],
    [{ intent: "paymentId" }, "intent"],
    [{ readState: {} }, "readState"],
    [{ precondition: 1 }, "precondition"],
    [{ classify: true }, "classify"],
    [{ effect: { type: "created" } }, "effect.type"],
    [{ effect: { id: "id" } }, "effect.id"],
    [{ effect: { of: "id" } }, "effect.of"],
    [{ plan: [] }, "plan"],
    [{ verify: true }, "verify"],
    [{ revive: {} }, "revive"],
    [{ resource: "payment/1" }, "resource"],
    [{ keyed: {} }, "keyed.forMs"],
    [{ keyed: { forMs: 0 } }, "keyed.forMs"],
    [{ keyed: { forMs: Number.NaN } }, "keyed.forMs"],
    [{ commitsWithinMs: -1 }, "commitsWithinMs"],
    [{ commitsWithinMs: Number.POSITIVE_INFINITY }, "commitsWithinMs"],
    [{ attemptTimeoutMs: 0 }, "attemptTimeoutMs"],
    [{ attemptTimeoutMs: -5 }, "attemptTimeoutMs"],
    [{ attemptTimeoutMs: "10" }, "attemptTimeoutMs"],
    [{ attemptTimeoutMs: 2 ** 31 }, "attemptTimeoutMs"],
    [{ readTimeoutMs: 0 }, "readTimeoutMs"],
    [{ deadlineMs: Number.NaN }, "deadlineMs"],
    [{ attempts: 0 }, "attempts"],
    [{ attempts: 1.5 }, "attempts"],
    [{ attempts: Number.POSITIVE_INFINITY }, "attempts"],
    [{ refuses: 429 }, "refuses"],
    [{ refuses: [200] }, "refuses"],
    [{ refuses: [600] }, "refuses"],
    [{ refuses: ["429"] }, "refuses"],
  ])("%j", (rest, option) => {
    expect(() => define(rest)).toThrow(InvalidInputError);
    expect(() => define(rest)).toThrow(`tool "refund".${option}`);
  });

  test.each(["", " x", "a\nb", "x".repeat(129)])("the name %j", (name) => {
    expect(() => define({ name })).toThrow(InvalidInputError);
  });

  test("a key may be for ever", () => {
    const forMs = Number.POSITIVE_INFINITY;
    expect(define({ keyed: { forMs } }).keyedForMs).toBe(forMs);
  });
});

describe("one name, one kind", () => {
  test("a second tool of the name shares what was learned of it", () => {
    const registry: Registry = new Map();
    const first = define({}, registry);
    const second = define({ attempts: 1 }, registry);
    first.learned.keyUnused = true;
    expect(second.learned.keyUnused).toBe(true);
  });

  test("a second tool of the name and of another kind is refused", () => {
    const registry: Registry = new Map();
    define({}, registry);
    expect(() => define({ kind: "read" }, registry)).toThrow('a tool of this name is "write"');
  });

  test("a refused definition leaves the name free", () => {
    const registry: Registry = new Map();
    expect(() => define({ kind: "read", attempts: 0 }, registry)).toThrow(InvalidInputError);
    expect(define({ kind: "write" }, registry).kind).toBe("write");
  });
});

describe("numbers", () => {
  test("say what was wrong with them, and not too much of it", () => {
    expect(() => positive("x".repeat(1_000), "a")).toThrow(/got "x{40}"/);
    expect(() => wholeNumber(0, "b")).toThrow("b: must be a whole number from 1, got 0");
  });
});
