import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../src/classify/failure.ts";
import { McpToolError } from "../../src/classify/mcp.ts";
import { isNotApplied, notApplied } from "../../src/classify/not-applied.ts";
import { lookAt } from "../../src/classify/thrown.ts";
import { OutcomeUnknownError } from "../../src/errors.ts";
import { closedPort } from "../wire/servers.ts";
import { HOSTILE } from "./hostile.ts";

const around = (cause: unknown) => new Error("request failed", { cause });

describe("the code of what was thrown", () => {
  const codeOf = (error: unknown) => lookAt(error).code;

  it("is the code, else the type, else those of the cause", () => {
    expect(codeOf({ code: "card_declined", type: "card_error" })).toBe("card_declined");
    expect(codeOf({ code: 20, type: "card_error" })).toBe("card_error");
    expect(codeOf(new Error("x", { cause: { code: "ECONNRESET" } }))).toBe("ECONNRESET");
  });

  it("is found in a failed native fetch", async () => {
    const error = await fetch(`http://127.0.0.1:${await closedPort()}/`).catch((e: unknown) => e);
    expect(codeOf(error)).toBe("ECONNREFUSED");
  });

  it.each(["", "with space", "a/b", "ü", "x".repeat(65), "line\n", "a:b"])("is not %j", (code) => {
    expect(codeOf({ code })).toBeUndefined();
  });

  it("has 64 characters at most", () => {
    expect(codeOf({ code: "x".repeat(64) })).toBe("x".repeat(64));
  });

  it.each(HOSTILE)("is none for %s", (_, value) => {
    expect(codeOf(value)).toBeUndefined();
  });
});

describe("whether something was given up or broke off", () => {
  const isInterruption = (error: unknown) => lookAt(error).isInterruption;
  const reset = Object.assign(new Error("x"), { code: "ECONNRESET" });

  it.each([
    ["an aborted call", new DOMException("stopped", "AbortError")],
    ["a call whose time was up", new DOMException("late", "TimeoutError")],
    ["axios, cancelled", Object.assign(new Error("x"), { code: "ERR_CANCELED" })],
    ["a reset connection", reset],
    ["a refused one", { code: "ECONNREFUSED", syscall: "connect" }],
    ["a part of an aggregate", new AggregateError([new Error("x"), reset])],
    ["the cause of a part", new AggregateError([around(reset)])],
  ])("it is so for %s, also inside another error", (_, error) => {
    expect(isInterruption(error)).toBe(true);
    expect(isInterruption(around(error))).toBe(true);
  });

  it("is not so for what a service answered", () => {
    expect(isInterruption(Object.assign(new Error("no"), { status: 402 }))).toBe(false);
    expect(isInterruption(undefined)).toBe(false);
    expect(isInterruption({ code: "ENOENT", syscall: "open" })).toBe(false);
  });

  it("is not so for a name or a code of a part: that one of several was given up says little", () => {
    const aborted = new DOMException("stopped", "AbortError");
    expect(isInterruption(new AggregateError([aborted]))).toBe(false);
    expect(isInterruption(new AggregateError([{ code: "ERR_CANCELED" }]))).toBe(false);
  });
});

describe("whose error it is", () => {
  const inner = new OutcomeUnknownError({ tool: "t", id: "i", key: "k" }, "lost_reply");

  it("is ours, or one that wraps ours", () => {
    expect(lookAt(inner)).toMatchObject({ isOurs: true, hasOurs: true });
    expect(lookAt(around(inner))).toMatchObject({ isOurs: false, hasOurs: true });
    expect(lookAt(around("x"))).toMatchObject({ isOurs: false, hasOurs: false });
  });

  it("is the tool's own word, or an MCP answer, only if nothing is around it", () => {
    const word = notApplied("no");
    const answer = new McpToolError({ isError: true });
    expect(lookAt(word)).toMatchObject({ isNotApplied: true, isMcpAnswer: false });
    expect(lookAt(answer)).toMatchObject({ isNotApplied: false, isMcpAnswer: true });
    for (const error of [around(word), around(answer)]) {
      expect(lookAt(error)).toMatchObject({ isNotApplied: false, isMcpAnswer: false });
    }
  });
});

describe("the tool's own word that nothing happened", () => {
  it.each<[string, unknown, boolean]>([
    ["its error", notApplied("no"), true],
    ["one of another copy of the package", { [Symbol.for("holdfire.not_applied")]: true }, true],
    ["a mark that is not true", { [Symbol.for("holdfire.not_applied")]: 1 }, false],
    ["one inside another error", around(notApplied("no")), false],
    ...HOSTILE.map(([name, value]): [string, unknown, boolean] => [name, value, false]),
  ])("is as it should be for %s", (_, error, isSo) => {
    expect(isNotApplied(error)).toBe(isSo);
    expect(lookAt(error).isNotApplied).toBe(isSo);
  });
});

describe("a look", () => {
  it("keeps what was thrown and its causes as they are", () => {
    const cause = { code: "ECONNRESET" };
    const error = around(cause);
    expect(lookAt(error).error).toBe(error);
    expect(lookAt(error).chain).toEqual([error, cause]);
    expect(lookAt(around("refused")).chain[1]).toBe("refused");
    expect(lookAt(undefined).chain).toEqual([]);
  });

  it("is taken once: what a value says later does not count", () => {
    let reads = 0;
    const thrown = lookAt({
      get code() {
        reads += 1;
        return reads === 1 ? "ECONNRESET" : "card_declined";
      },
    });
    expect(thrown).toMatchObject({ code: "ECONNRESET", isInterruption: true });
    expect(failureOf(thrown, undefined)).toMatchObject({ code: "ECONNRESET", broke: true });
    expect(reads).toBe(1);
  });

  it("reads a text as the message, and no message that is none", () => {
    expect(lookAt("boom").message).toBe("boom");
    expect(lookAt({ message: 7 }).message).toBeUndefined();
    expect(lookAt(new Error("x")).message).toBe("x");
  });

  it.each(HOSTILE)("survives %s, also as a cause and as a part", (_, value) => {
    for (const error of [value, around(value), { errors: [value] }]) {
      const { code, status, isInterruption, hasOurs } = lookAt(error);
      expect({ code, status, isInterruption, hasOurs }).toEqual({
        code: undefined,
        status: undefined,
        isInterruption: false,
        hasOurs: false,
      });
    }
  });

  it("survives anything", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), (value) => {
        expect(typeof lookAt(value).type).toBe("string");
      }),
      { seed: 7 },
    );
  });
});
