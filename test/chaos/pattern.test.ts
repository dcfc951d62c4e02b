import { expect, test } from "vitest";
import { fits, glob } from "../../src/chaos/pattern.ts";

const payout = { method: "POST", origin: "https://api.bank.example", path: "/v1/payouts" };
const call = { method: "CALL", origin: "stdio://server.js", path: "", tool: "pay" };
const local = { method: "PUT", origin: "http://127.0.0.1:4000", path: "/a" };

test.each([
  ["POST", payout, true],
  ["PUT", payout, false],
  ["https://api.bank.example", payout, true],
  ["https://api.bank.example/v1/payouts", payout, true],
  ["POST https://api.bank.example/v1/*", payout, true],
  ["PUT https://api.bank.example/v1/*", payout, false],
  ["https://api.bank.example/v2/*", payout, false],
  ["/v1/payouts", payout, true],
  ["/v1", payout, false],
  ["POST /v1/*", payout, true],
  ["api.bank.example", payout, true],
  ["bank.example", payout, false],
  ["*.bank.example", payout, true],
  ["pay", call, true],
  ["refund", call, false],
  ["127.0.0.1", local, true],
  ["127.0.0.1:4000", local, true],
  ["127.0.0.1:4001", local, false],
  ["", payout, false],
] as const)("%j", (pattern, request, expected) => {
  expect(fits(pattern, request)).toBe(expected);
});

test.each([
  ["a*c", "abc", true],
  ["a*c", "ac", true],
  ["a*bc", "abc", true],
  ["ab*bc", "abc", false],
  ["*a*a*", "banana", true],
  ["*a*x*", "banana", false],
  ["*", "", true],
  ["a", "ab", false],
] as const)("%j on %j", (pattern, text, expected) => {
  expect(glob(pattern, text)).toBe(expected);
});

test("many stars take no time", () => {
  expect(glob("*a".repeat(5_000), "a".repeat(20_000))).toBe(true);
  expect(glob(`${"*a".repeat(5_000)}b`, "a".repeat(20_000))).toBe(false);
});
