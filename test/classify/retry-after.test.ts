import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { headersOf, retryAfterMs } from "../../src/classify/answer.ts";

const NOW = Date.UTC(2026, 0, 1);
const DAY = 24 * 3_600_000;

const after = (value: string, name = "retry-after"): number | undefined =>
  retryAfterMs((asked) => (asked === name ? value : undefined), NOW);

describe("retryAfterMs", () => {
  it("reads seconds, whole and broken, and milliseconds", () => {
    expect(after("2")).toBe(2_000);
    expect(after("0")).toBe(0);
    expect(after(" 3 ")).toBe(3_000);
    expect(after("0.0015")).toBe(2);
    expect(after("250", "retry-after-ms")).toBe(250);
    expect(after("0.2", "retry-after-ms")).toBe(1);
  });

  it("prefers milliseconds, unless they are nonsense", () => {
    const both = (ms: string) =>
      retryAfterMs(headersOf({ headers: { "retry-after-ms": ms, "retry-after": "9" } }), NOW);
    expect(both("100")).toBe(100);
    expect(both("-1")).toBe(9_000);
  });

  it("reads a date, and takes one that has passed for now", () => {
    expect(after("Thu, 01 Jan 2026 00:00:30 GMT")).toBe(30_000);
    expect(after(" Thu, 01 Jan 2026 00:00:30 GMT ")).toBe(30_000);
    expect(after("Wed, 31 Dec 2025 23:59:30 GMT")).toBe(0);
    expect(after("Sun, 06 Nov 1994 08:49:37 GMT")).toBe(0);
  });

  it("waits a day at most", () => {
    expect(after("99999999999")).toBe(DAY);
    expect(after("86400")).toBe(DAY);
    expect(after("86401")).toBe(DAY);
    expect(after("999999999999999", "retry-after-ms")).toBe(DAY);
    expect(after("Fri, 31 Dec 9999 23:59:59 GMT")).toBe(DAY);
  });

  it.each([
    "",
    "-1",
    "+1",
    "NaN",
    "Infinity",
    "1e400",
    "1e3",
    "0x10",
    "1, 2",
    "1 2",
    "1.",
    ".5",
    "1_000",
    "1000000000000000",
    "soon",
    "Invalid Date",
    "Thu, 01 Jan 2026 00:00:30",
    "Thu, 01 Jan 2026 00:00:30 +0100",
    "Fri, 01 Jan 2026 00:00:30 GMT",
    "Thu, 01 Jan 2026 00:00:60 GMT",
    "Mon, 30 Feb 2026 00:00:00 GMT",
    "2026-01-01T00:00:30Z",
    "Thursday, 01-Jan-26 00:00:30 GMT",
    "9".repeat(10_240),
    "x".repeat(10_240),
  ])("takes %j for none", (value) => {
    expect(after(value)).toBeUndefined();
    expect(after(value, "retry-after-ms")).toBeUndefined();
  });

  it("takes two headers for none", () => {
    const headers = new Headers([
      ["retry-after", "1"],
      ["retry-after", "2"],
    ]);
    expect(retryAfterMs(headersOf({ headers }), NOW)).toBeUndefined();
  });

  it("is none without headers", () => {
    expect(retryAfterMs(() => undefined, NOW)).toBeUndefined();
  });

  it("does not let a broken clock through", () => {
    const date = () => "Thu, 01 Jan 2026 00:00:30 GMT";
    expect(retryAfterMs(date, Number.NaN)).toBeUndefined();
    expect(retryAfterMs(date, Number.NEGATIVE_INFINITY)).toBeUndefined();
  });

  it("is an integer from 0 to a day, or nothing, for any text", () => {
    const text = fc.oneof(
      fc.string(),
      fc.double().map(String),
      fc.bigInt().map(String),
      fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      fc.date().map(String),
    );
    fc.assert(
      fc.property(text, fc.option(text), (value, ms) => {
        const wait = retryAfterMs(
          (name) => (name === "retry-after" ? value : (ms ?? undefined)),
          NOW,
        );
        expect(wait === undefined || (Number.isSafeInteger(wait) && wait >= 0 && wait <= DAY)).toBe(
          true,
        );
      }),
      { seed: 7, numRuns: 2_000 },
    );
  });

  it("reads every IMF-fixdate of the coming day to the second", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400 }), (seconds) => {
        expect(after(new Date(NOW + seconds * 1_000).toUTCString())).toBe(seconds * 1_000);
      }),
      { seed: 7 },
    );
  });
});
