/** The sentence that a service says in a failed answer, wherever its client keeps it; never a page. */
import { describe, expect, test } from "vitest";
import { failureOf } from "../../src/classify/failure.ts";
import { McpToolError } from "../../src/classify/mcp.ts";
import { notApplied } from "../../src/classify/not-applied.ts";
import { serviceWords } from "../../src/classify/service-words.ts";
import { lookAt } from "../../src/classify/thrown.ts";
import { InvalidInputError } from "../../src/errors.ts";

const DECLINED = "Your card was declined.";

describe("in a body", () => {
  test.each([
    ["Stripe, OpenAI", { error: { message: DECLINED, code: "card_declined" } }],
    ["Anthropic", { type: "error", error: { type: "invalid", message: DECLINED } }],
    ["a problem document", { type: "about:blank", title: "Payment", detail: DECLINED }],
    ["a problem document without details", { title: DECLINED, status: 402 }],
    ["OAuth", { error: "invalid_grant", error_description: DECLINED }],
    ["GraphQL, Square", { errors: [{ message: DECLINED }, { message: "another" }] }],
    ["GitHub", { message: DECLINED, documentation_url: "https://docs.example" }],
    ["a bare error", { error: DECLINED }],
    ["plain text", DECLINED],
  ])("%s", (_, body) => {
    expect(serviceWords(undefined, body)).toBe(DECLINED);
    if (typeof body !== "string") {
      expect(serviceWords(undefined, JSON.stringify(body))).toBe(DECLINED);
    }
  });

  test.each([
    ["a page", "<!doctype html><html><body>nginx</body></html>"],
    ["a page after a blank line", "\n  <html>502</html>"],
    ["a long text", "word ".repeat(1_000)],
    ["bytes", "\uFFFD\uFFFDPNG"],
    ["nothing", ""],
    ["JSON that broke off", '{"error":{"message":"Your'],
    ["JSON without a sentence", '{"ok":false,"n":1}'],
  ])("none in %s", (_, body) => {
    expect(serviceWords(undefined, body)).toBeUndefined();
  });

  test("a list in a text, with space around it, is read as JSON", () => {
    expect(serviceWords(undefined, ` [{"message":"${DECLINED}"}] `)).toBe(DECLINED);
    expect(serviceWords(undefined, `[{"message":"${DECLINED}"`)).toBeUndefined();
  });

  test("it is looked for three levels deep and no deeper", () => {
    const nested = (depth: number): unknown =>
      depth === 0 ? { message: DECLINED } : { error: nested(depth - 1) };
    expect(serviceWords(undefined, nested(3))).toBe(DECLINED);
    expect(serviceWords(undefined, nested(4))).toBeUndefined();
    const listed = (depth: number): unknown =>
      depth === 0 ? { message: DECLINED } : [listed(depth - 1)];
    expect(serviceWords(undefined, listed(3))).toBe(DECLINED);
    expect(serviceWords(undefined, listed(4))).toBeUndefined();
  });

  test("a sentence has 2,000 characters at most, without the space around it", () => {
    const longest = `${"no ".repeat(666)}no`;
    expect(longest).toHaveLength(2_000);
    expect(serviceWords(undefined, { message: `\n${longest}\n` })).toBe(longest);
    expect(serviceWords(undefined, { message: `${longest}.` })).toBeUndefined();
  });

  test.each([
    ["markup", "<Error><Message>no</Message></Error>"],
    ["a page after some words", "502: <html lang='en'>no</html>"],
  ])("none in %s, also in a field", (_, text) => {
    expect(serviceWords(undefined, text)).toBeUndefined();
    expect(serviceWords(undefined, { message: text })).toBeUndefined();
  });

  test("a secret in it is hidden", () => {
    const body = { error: { message: "Invalid key sk-abc123def456ghi" } };
    expect(serviceWords(undefined, body)).toBe("Invalid key [hidden]");
  });
});

describe("in what a client throws", () => {
  const status = 402;
  test.each([
    ["stripe", { statusCode: status, raw: { message: DECLINED } }],
    ["openai", { status, error: { message: DECLINED } }],
    ["anthropic", { status, error: { type: "error", error: { message: DECLINED } } }],
    ["axios", { response: { status, data: { message: DECLINED } } }],
    ["got", { response: { statusCode: status, body: `{"message":"${DECLINED}"}` }, status }],
    ["octokit", { status, response: { status, data: { message: DECLINED } } }],
    ["the AI SDK", { statusCode: status, responseBody: `{"error":{"message":"${DECLINED}"}}` }],
  ])("%s", (_, fields) => {
    const error = Object.assign(new Error("Request failed"), fields);
    expect(serviceWords(lookAt(error), undefined)).toBe(DECLINED);
  });

  test("an error that was no answer has no words of a service", () => {
    const error = { error: { message: DECLINED } };
    expect(serviceWords(lookAt(error), undefined)).toBeUndefined();
  });
});

describe("what an attempt failed with", () => {
  const of = (error: unknown, body?: unknown) => failureOf(lookAt(error), body);

  test("class, code and first line", () => {
    const error = Object.assign(new RangeError("amount is too large\n    at pay (x.ts)"), {
      code: "ERR_TOO_LARGE",
    });
    const told = { type: "RangeError", code: "ERR_TOO_LARGE", line: "amount is too large" };
    expect(of(error)).toEqual({ ...told, said: undefined });
  });

  test("the name that an error gives itself", () => {
    expect(of(new DOMException("too slow", "TimeoutError"))).toMatchObject({
      type: "TimeoutError",
      line: "too slow",
    });
    class CardError extends Error {}
    expect(of(new CardError("no"))).toMatchObject({ type: "CardError" });
    expect(of(Object.assign(new Error("x"), { name: "a sentence, of a service" }))).toMatchObject({
      type: "Error",
    });
  });

  test("text that hides or breaks out is made visible, and short", () => {
    const line = of(new Error(`a\u202eb\u0007 ${"word ".repeat(200)}`))?.line ?? "";
    expect(line).toContain("a\\u{202e}b\\u{7}");
    expect(line.length).toBeLessThan(300);
    const said = of(new Error("x"), `no\nand\u0000 no ${"word ".repeat(100)}`)?.said ?? "";
    expect(said).toContain("no and\\u{0} no");
    expect(said.length).toBeLessThan(450);
  });

  test("the same words are told once", () => {
    const error = Object.assign(new Error(DECLINED), { status: 402, raw: { message: DECLINED } });
    expect(of(error)).toMatchObject({ line: undefined, said: DECLINED });
  });

  test("of our own errors the class and the code", () => {
    expect(of(new InvalidInputError("args", "must be plain."))).toMatchObject({
      type: "InvalidInputError",
      code: "ERR_HOLDFIRE_INVALID_INPUT",
      line: undefined,
    });
  });

  test("where nothing was thrown, what the service said, if it said something", () => {
    expect(failureOf(undefined, { message: DECLINED })).toEqual({ said: DECLINED });
    expect(failureOf(undefined, undefined)).toBeUndefined();
  });

  test("whether it broke off, and whether it stands for an answer", () => {
    const reset = Object.assign(new Error("reset"), { code: "ECONNRESET" });
    expect(of(reset)).toMatchObject({ broke: true, answered: undefined });
    expect(of(new McpToolError({ isError: true }))).toMatchObject({
      broke: undefined,
      answered: true,
    });
    expect(of(new Error("no"))).toMatchObject({ broke: undefined, answered: undefined });
  });

  test("what an MCP tool said in an answer with an error, masked, and nothing where it said nothing", () => {
    const saidBy = (...content: unknown[]) =>
      of(new McpToolError({ isError: true, content }))?.said;
    expect(saidBy({ type: "text", text: DECLINED }, { type: "text", text: "more" })).toBe(DECLINED);
    expect(saidBy({ type: "text", text: JSON.stringify({ error: { message: DECLINED } }) })).toBe(
      DECLINED,
    );
    expect(saidBy({ type: "text", text: "Bearer sk_live_51Habcdefghijklmnop" })).not.toContain(
      "51Habcdefghijklmnop",
    );
    expect(saidBy({ type: "image", data: "AAAA" })).toBeUndefined();
    expect(saidBy()).toBeUndefined();
  });

  test("a message that begins with empty lines, or has none", () => {
    expect(of(new Error("\n\n  no funds \r\nmore"))?.line).toBe("no funds");
    expect(of(new Error(" \n "))?.line).toBeUndefined();
    expect(of({ message: 7 })?.line).toBeUndefined();
    expect(of(new Error("  no \t  funds  "))?.line).toBe("no funds");
  });

  test("a secret in the message is hidden", () => {
    const line = of(new Error("refused: Bearer sk_live_51Habcdefghijklmnop"))?.line;
    expect(line).toContain("refused");
    expect(line).not.toContain("51Habcdefghijklmnop");
  });

  test("a tool's own word", () => {
    expect(of(notApplied("card declined"))).toMatchObject({ byTool: true, line: "card declined" });
  });

  test.each([
    ["a string", "boom", { type: "string", line: "boom" }],
    ["null", null, { type: "null", line: undefined }],
    ["an object without anything", Object.create(null), { type: "object", line: undefined }],
  ])("%s", (_, thrown, told) => {
    expect(of(thrown)).toMatchObject(told);
  });
});
