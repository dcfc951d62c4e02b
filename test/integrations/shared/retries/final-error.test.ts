import { getRetryable } from "@langchain/core/errors";
import { expect, test } from "vitest";
import { finalError } from "../../../../src/integrations/shared/retries/final-error.ts";

test("an error is the same one, and final to those who ask", () => {
  const error = Object.assign(new Error("busy"), { isRetryable: true });
  expect(finalError(error)).toBe(error);
  expect(error.isRetryable).toBe(false);
  expect(getRetryable(error)).toBe(false);
  expect(error).toHaveProperty("unsafeToReplay", true);
  expect(Object.keys(error)).toEqual(["isRetryable"]);
});

test("what cannot be marked is handed on as it is", () => {
  const refuse = () => {
    throw new Error("refused");
  };
  const hostile = new Proxy({}, { get: refuse, defineProperty: refuse });
  for (const thrown of [undefined, null, "busy", Object.freeze(new Error("busy")), hostile]) {
    expect(Object.is(finalError(thrown), thrown)).toBe(true);
  }
});
