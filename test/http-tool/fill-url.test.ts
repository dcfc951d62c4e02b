import { describe, expect, test } from "vitest";
import { checkTemplate, fillUrl } from "../../src/http-tool/fill-url.ts";

const TEMPLATE = "https://api.example/payments/{id}/refunds?reason={reason}";

test("a value is encoded: it stays in its place in the path and in the query", () => {
  const url = fillUrl(TEMPLATE, { id: "a/../b?x=1#y", reason: "50% & more" }, "args");
  expect(url.href).toBe(
    "https://api.example/payments/a%2F..%2Fb%3Fx%3D1%23y/refunds?reason=50%25%20%26%20more",
  );
  expect(url.searchParams.get("reason")).toBe("50% & more");
});

test("numbers and booleans are taken as they are written", () => {
  expect(fillUrl("https://x.example/{a}/{b}", { a: 7, b: false }, "args").pathname).toBe(
    "/7/false",
  );
});

describe("a value is refused that", () => {
  test.each([
    ["is missing", {}],
    ["is empty", { id: "" }],
    ["is no text", { id: { $ne: 1 } }],
    ["is one dot", { id: "." }],
    ["is two dots, which the platform would take out of the path", { id: ".." }],
    ["is half a character", { id: "\ud800" }],
  ])("%s", (_, values) => {
    expect(() => fillUrl("https://x.example/a/{id}/b", values, "args")).toThrow("args");
  });

  test("makes two dots together with another", () => {
    const values = { a: ".", b: "." };
    expect(() => fillUrl("https://x.example/v/{a}{b}/c", values, "args")).toThrow("args");
  });
});

describe("an address is refused", () => {
  test.each([
    ["whose host a value would choose", "https://{host}.example/x"],
    ["whose host a value would choose, without a path", "https://{host}"],
    ["that is no address", "/payments/{id}"],
    ["that is no address of HTTP", "file:///etc/{name}"],
  ])("%s", (_, template) => {
    expect(() => checkTemplate(template, "url")).toThrow("url");
  });
});
