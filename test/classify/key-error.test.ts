import { describe, expect, it } from "vitest";
import { isKeyError } from "../../src/classify/key-error.ts";
import { HOSTILE } from "./hostile.ts";

describe("isKeyError", () => {
  it.each([
    ["Stripe", { type: "StripeIdempotencyError", rawType: "idempotency_error" }],
    ["a nested raw error", { raw: { type: "idempotency_error" } }],
    ["an SDK that keeps the body", { error: { error: { code: "idempotency_key_in_use" } } }],
    ["Square", { body: { errors: [{ code: "IDEMPOTENCY_KEY_REUSED" }] } }],
    ["axios", { response: { data: { code: "idempotency_key_mismatch" } } }],
    ["a problem type", { data: { type: "https://developer.example.com/idempotency" } }],
  ])("sees it in %s", (_, error) => {
    expect(isKeyError(error)).toBe(true);
  });

  it("never looks at messages", () => {
    const error = new Error("idempotency_error");
    expect(isKeyError(Object.assign(error, { title: "idempotency", detail: "idempotency" }))).toBe(
      false,
    );
  });

  it("does not take another code for one", () => {
    expect(isKeyError({ code: "parameter_missing", type: "invalid_request_error" })).toBe(false);
  });

  it("ignores what is too long or too deep", () => {
    expect(isKeyError({ code: `idempotency${"x".repeat(300)}` })).toBe(false);
    const nest = (depth: number): object =>
      depth === 0 ? { code: "idempotency_error" } : { error: nest(depth - 1) };
    expect(isKeyError(nest(3))).toBe(true);
    expect(isKeyError(nest(4))).toBe(false);
  });

  it.each(HOSTILE)("is false for %s, without throwing", (_, value) => {
    expect(isKeyError(value)).toBe(false);
  });
});
