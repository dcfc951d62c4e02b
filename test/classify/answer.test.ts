import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { Response as UndiciResponse } from "undici";
import { describe, expect, it } from "vitest";
import { headersOf, isAnswer, isResponse, statusOf } from "../../src/classify/answer.ts";
import { HOSTILE } from "./hostile.ts";

describe("statusOf", () => {
  it.each([
    ["a Response", new Response(null, { status: 404 })],
    ["status", { status: 404 }],
    ["statusCode", { statusCode: 404 }],
    ["response.status", { response: { status: 404 } }],
    ["$metadata.httpStatusCode", { $metadata: { httpStatusCode: 404 } }],
    ["the first that is one", { status: "error", statusCode: 404 }],
    ["an own status that is undefined", { status: undefined, response: { status: 404 } }],
  ])("finds it in %s", (_, value) => {
    expect(statusOf(value)).toBe(404);
  });

  it.each([0, 99, 600, 404.5, -404, Number.NaN, Number.POSITIVE_INFINITY, "404", 404n, [404]])(
    "does not take %s for one",
    (status) => {
      expect(statusOf({ status })).toBeUndefined();
    },
  );

  it("takes 100 and 599", () => {
    expect([statusOf({ status: 100 }), statusOf({ status: 599 })]).toEqual([100, 599]);
  });

  it("finds none on a function, even one with a status", () => {
    expect(statusOf(Object.assign(() => {}, { status: 404 }))).toBeUndefined();
  });

  it.each(HOSTILE)("finds none in %s", (_, value) => {
    expect(statusOf(value)).toBeUndefined();
  });
});

describe("isResponse", () => {
  it("knows the platform's, undici's, an errored and a foreign one", () => {
    expect(isResponse(new Response())).toBe(true);
    expect(isResponse(new UndiciResponse())).toBe(true);
    expect(isResponse(Response.error())).toBe(true);
    const foreign: unknown = runInNewContext(
      "({ status: 200, ok: true, headers: { get() {} }, text() {}, arrayBuffer() {} })",
    );
    expect(isResponse(foreign)).toBe(true);
  });

  it("does not take a result that merely has a status for one", () => {
    for (const value of [
      { status: "shipped" },
      { status: 200, ok: true, data: {} },
      { status: 200, headers: {}, data: {}, config: {} },
      { ...new Response(), status: 200 },
    ]) {
      expect(isResponse(value)).toBe(false);
    }
  });

  const whole = {
    status: 200,
    ok: true,
    headers: new Headers(),
    text: () => {},
    arrayBuffer: () => {},
  };

  it.each(Object.keys(whole))("needs %s", (key) => {
    expect(isResponse(whole)).toBe(true);
    expect(isResponse({ ...whole, [key]: undefined })).toBe(false);
    expect(isResponse(Object.assign(() => {}, whole))).toBe(false);
  });

  it.each(HOSTILE)("is false for %s", (_, value) => {
    expect(isResponse(value)).toBe(false);
  });
});

describe("isAnswer", () => {
  it.each([
    ["fetch", new Response()],
    ["fetch, that failed", Response.error()],
    ["undici.request()", { statusCode: 200, headers: {}, body: "x" }],
    ["axios", { status: 404, headers: {}, data: {} }],
    ["one with an empty text", { status: 200, headers: {}, data: "" }],
    ["one with null for a body, and data", { status: 200, headers: {}, body: null, data: "x" }],
  ])("knows that of %s", (_, value) => {
    expect(isAnswer(value)).toBe(true);
  });

  it.each([
    ["headers", { status: 200, data: {} }],
    ["headers that are an object", { status: 200, headers: "none", data: {} }],
    ["headers that are not null", { status: 200, headers: null, data: {} }],
    ["a status", { status: "shipped", headers: {}, data: {} }],
    ["a body or data", { status: 200, headers: {} }],
  ])("needs %s", (_, value) => {
    expect(isAnswer(value)).toBe(false);
  });

  it("does not take a function for one", () => {
    const whole = { status: 200, headers: {}, data: {} };
    expect(isAnswer(Object.assign(() => {}, whole))).toBe(false);
  });

  it.each(HOSTILE)("is false for %s", (_, value) => {
    expect(isAnswer(value)).toBe(false);
  });
});

describe("headersOf", () => {
  it.each([
    ["Headers", { headers: new Headers({ "Retry-After": "7" }) }],
    ["a Response", new Response(null, { headers: { "retry-after": "7" } })],
    ["a plain object", { headers: { "Retry-After": "7" } }],
    ["a number in a plain object", { headers: { "retry-after": 7 } }],
    ["response.headers", { response: { headers: { "RETRY-AFTER": "7" } } }],
    [
      "response.headers beside empty headers",
      { headers: {}, response: { headers: new Headers({ "retry-after": "7" }) } },
    ],
  ])("reads %s in any case", (_, value) => {
    expect(headersOf(value)("retry-after")).toBe("7");
    expect(headersOf(value)("Retry-After")).toBe("7");
    expect(headersOf(value)("x-other")).toBeUndefined();
  });

  it("joins several of one name", () => {
    const headers = new Headers([
      ["retry-after", "1"],
      ["retry-after", "2"],
    ]);
    expect(headersOf({ headers })("retry-after")).toBe("1, 2");
    expect(headersOf({ headers: { "retry-after": ["1", "2"] } })("retry-after")).toBe("1, 2");
  });

  it("reads only the first 256 names, and the first 256 values of one name", () => {
    const names = Array.from({ length: 257 }, (_, at) => [`X-${at}`, "1"]);
    const headers = Object.fromEntries(names);
    expect(headersOf({ headers })("x-255")).toBe("1");
    expect(headersOf({ headers })("x-256")).toBeUndefined();
    const many = Array.from({ length: 300 }, () => 1);
    expect(headersOf({ headers: { a: many } })("a")).toBe(Array(256).fill("1").join(", "));
  });

  it("drops a value that is too long or no text", () => {
    expect(headersOf({ headers: { a: "x".repeat(1_024) } })("a")).toHaveLength(1_024);
    for (const a of ["x".repeat(1_025), {}, [], [Symbol("x")], null, true, () => {}]) {
      expect(headersOf({ headers: { a } })("a")).toBeUndefined();
    }
  });

  it.each(HOSTILE)("finds none in %s", (_, value) => {
    expect(headersOf(value)("retry-after")).toBeUndefined();
    expect(headersOf({ headers: value })("retry-after")).toBeUndefined();
  });
});

describe("all of them", () => {
  it("survive anything", () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        statusOf(value);
        isResponse(value);
        const found = headersOf({ headers: value })("x");
        expect(found === undefined || typeof found === "string").toBe(true);
      }),
      { seed: 7 },
    );
  });
});
