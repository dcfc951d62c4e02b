import { describe, expect, test } from "vitest";
import { intentOf } from "../../src/engine/call/name-operation.ts";
import { positive, wholeNumber } from "../../src/engine/define/check.ts";
import { defineTool, type Registry } from "../../src/engine/define/define-tool.ts";
import { declaredBy, recognisesForgotten, type Tool } from "../../src/engine/define/tool.ts";
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
    [{ refuses: [299] }, "refuses"],
    [{ accepts: [304, 200] }, "accepts"],
    [{ commitsWithinMs: 2 ** 31 }, "commitsWithinMs"],
    [{ effect: 7 }, "effect"],
    [{ effect: { same: true } }, "effect.same"],
    [{ effect: { id: () => "1", list: "all" } }, "effect.list"],
    [{ effect: { list: async () => [] } }, "effect.list: needs effect.id"],
    [{ ignores: ["auth.example"] }, "ignores[0]"],
    [{ ignores: ["https://auth.example", "file:///etc/passwd"] }, "ignores[1]"],
    [{ ignores: [/auth/] }, "ignores[0]"],
    [{ ignores: [new URL("https://auth.example")] }, "ignores[0]"],
    [{ via: "smtp" }, "via"],
    [{ onDrift: "shout" }, "onDrift"],
    [{ volatileIds: "some" }, "volatileIds"],
  ])("%j", (rest, option) => {
    expect(() => define(rest)).toThrow(InvalidInputError);
    expect(() => define(rest)).toThrow(`tool "refund".${option}`);
  });

  test.each(["", " x", "a\nb", "x".repeat(129)])("the name %j", (name) => {
    expect(() => define({ name })).toThrow(InvalidInputError);
  });

  test("the first and the last value that is allowed", () => {
    const longest = 2 ** 31 - 1;
    const times = { attemptTimeoutMs: longest, commitsWithinMs: longest, readTimeoutMs: 1 };
    expect(define(times)).toMatchObject(times);
    const lists = { refuses: [300, 599], accepts: [599, 300] };
    expect(define(lists)).toMatchObject(lists);
  });

  test("a key may be for ever", () => {
    const forMs = Number.POSITIVE_INFINITY;
    expect(define({ keyed: { forMs } }).keyedForMs).toBe(forMs);
  });
});

describe("requests that are no part of the effect", () => {
  const line = (url: string) => ({ method: "POST", url });

  test("those to an origin, whatever their path; of no other port, host or protocol", () => {
    const { ignores } = define({ ignores: ["https://auth.example/a/path"] });
    expect(ignores(line("https://auth.example/token?for=1"))).toBe(true);
    for (const other of ["https://auth.example:444/", "http://auth.example/", "https://example/"])
      expect(ignores(line(other))).toBe(false);
    expect(ignores(line("no address"))).toBe(false);
  });

  test("those of which one of several rules says so, and says true", () => {
    const byMethod = ({ method }: { method: string }) => method === "POST";
    const { ignores } = define({ ignores: ["https://auth.example", byMethod] });
    expect(ignores(line("https://pay.example"))).toBe(true);
    expect(ignores({ method: "PUT", url: "https://pay.example" })).toBe(false);
    expect(define({ ignores: [() => "yes"] }).ignores(line("https://pay.example"))).toBe(false);
    expect(define().ignores(line("https://pay.example"))).toBe(false);
  });
});

describe("what a definition says of its service", () => {
  test("a precondition makes it conditional, also one that each call gives", () => {
    const read = async () => "v1";
    expect(define({ precondition: read })).toMatchObject({ conditional: true, precondition: read });
    const given = define({ precondition: "given" });
    expect(given).toMatchObject({ conditional: true, precondition: undefined });
  });

  test("its promises, as each attempt is noted with them: those that it makes, and no others", () => {
    const keyed = { keyed: { forMs: 5 } };
    const conditional = { precondition: "given" };
    const declared = (rest: object, enlisted = false) => declaredBy(define(rest), enlisted);
    expect(declared({})).toBeUndefined();
    expect(declared({}, true)).toEqual({ enlisted: true });
    expect(declared(keyed)).toEqual({ keyed: true });
    expect(declared(conditional)).toEqual({ conditional: true });
    expect(declared({ ...keyed, ...conditional }, true)).toEqual({
      ...{ keyed: true, conditional: true, enlisted: true },
    });
  });

  test("whether it recognises a request of which the record is lost", () => {
    const forgotten = (rest: object) => recognisesForgotten(define(rest));
    expect(forgotten({})).toBe(false);
    expect(forgotten({ keyed: { forMs: 5 } })).toBe(true);
    expect(forgotten({ precondition: "given" })).toBe(true);
    // Read anew, it is another one.
    expect(forgotten({ precondition: async () => "v1" })).toBe(false);
  });

  test("that it goes by HTTP alone", () => {
    expect(define({ via: "http" }).viaHttp).toBe(true);
    expect(define().viaHttp).toBe(false);
  });

  test("the header of its key", () => {
    expect(define({ keyed: { forMs: 5, header: "X-Key" } }).keyHeader).toBe("X-Key");
    expect(define({ keyed: { forMs: 5 } }).keyHeader).toBeUndefined();
  });
});

describe("a definition counts as it was when it was checked", () => {
  test.each([
    ["refuses", [429], (all: unknown[]) => all.push(200, 503)],
    ["accepts", [404], (all: unknown[]) => all.push(500)],
    ["normalize", ["text"], (all: unknown[]) => all.splice(0)],
    ["alsoDoes", ["mails"], (all: unknown[]) => all.splice(0)],
  ] as const)("its `%s`", (option, given, change) => {
    const used = [...given];
    const tool = define({ [option]: used });
    change(used);
    expect(tool[option]).toEqual(given);
  });

  test("its `effect`", () => {
    const id = () => "1";
    const effect: { id: unknown } = { id };
    const tool = define({ effect });
    effect.id = () => "2";
    expect(tool.effect.id).toBe(id);
  });

  test("its `ignores` and its `keyed`", () => {
    const ignores = ["https://auth.example"];
    const keyed = { forMs: 5, header: "X-Key" };
    const tool = define({ ignores, keyed });
    ignores[0] = "https://pay.example";
    Object.assign(keyed, { forMs: 500, header: "X-Other" });
    expect(tool.ignores({ method: "POST", url: "https://pay.example/" })).toBe(false);
    expect(tool).toMatchObject({ keyedForMs: 5, keyHeader: "X-Key" });
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
