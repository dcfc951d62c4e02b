/** What of an error's text is stored and told. */
import { describe, expect, test } from "vitest";
import { type CodecOptions, createCodec, type ErrorText } from "../../../src/ledger/codec/codec.ts";

const kept = (text: ErrorText, options: CodecOptions = {}) =>
  createCodec(options).redactText(text, "refund_payment");

describe("the text of an error", () => {
  test("is its own line, what the service said, or both", () => {
    const both = { line: "fetch failed", said: "no such card" };
    expect(kept(both)).toEqual(both);
    expect(kept({ line: "fetch failed" })).toEqual({ line: "fetch failed" });
    expect(kept({ said: "no such card" })).toEqual({ said: "no such card" });
    expect(kept({})).toBeUndefined();
    expect(kept({ line: "", said: "" })).toBeUndefined();
  });

  test("is one line of 500 characters at most, with nothing hidden in it", () => {
    expect(kept({ line: "one\ntwo\u202e" })).toEqual({ line: "one\\ntwo\\u{202e}" });
    expect(kept({ said: "x".repeat(501) })?.said).toBe(`${"x".repeat(500)}…`);
  });

  test("is not kept where the codec is told so", () => {
    expect(kept({ line: "fetch failed", said: "no" }, { errorText: false })).toBeUndefined();
    expect(kept({ line: "fetch failed" }, { errorText: true })).toBeDefined();
  });
});

describe("redaction of an error's text", () => {
  const text: ErrorText = { line: "card 4242 was declined", said: "declined" };

  test("is asked about a copy, with the tool, and decides what is told", () => {
    const asked: unknown[] = [];
    const redact: CodecOptions["redact"] = (value, about) => {
      asked.push(structuredClone(value), about);
      return Object.assign(value as object, { line: "card … was declined" });
    };
    expect(kept(text, { redact })).toEqual({ line: "card … was declined", said: "declined" });
    expect(asked).toEqual([text, { tool: "refund_payment", of: "error" }]);
    expect(text.line).toBe("card 4242 was declined");
  });

  test.each([
    ["nothing", () => undefined],
    ["a text instead of the two", () => "declined"],
    ["what is no text", () => ({ line: 42, said: null })],
    ["a promise", async () => text],
    [
      "an error",
      () => {
        throw new Error("not now");
      },
    ],
  ])("that gives %s leaves nothing of it", (_, redact) => {
    expect(kept(text, { redact })).toBeUndefined();
  });

  test("may leave one of the two", () => {
    expect(kept(text, { redact: () => ({ said: "declined" }) })).toEqual({ said: "declined" });
    expect(kept(text, { redact: () => ({ line: "declined", said: "" }) })).toEqual({
      line: "declined",
    });
  });

  test("is not asked where there is no text", () => {
    let asked = 0;
    const redact = () => {
      asked += 1;
    };
    expect(kept({}, { redact })).toBeUndefined();
    expect(asked).toBe(0);
  });
});

test("a codec refuses an errorText that is neither true nor false", () => {
  const errorText = "no" as unknown as boolean;
  expect(() => createCodec({ errorText })).toThrow(
    expect.objectContaining({ path: "codec.errorText" }),
  );
});
