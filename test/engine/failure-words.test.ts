import { describe, expect, test } from "vitest";
import { errorOf } from "../../src/engine/outcome/error-of.ts";
import { attemptWords, thrownWords } from "../../src/engine/outcome/failure-words.ts";

const BUG = { type: "TypeError", line: "x is undefined" };
const THREW = "The tool failed with TypeError: x is undefined.";

describe("how an attempt in doubt ended", () => {
  test.each([
    ["nothing is known", undefined, undefined, "No answer was seen."],
    ["a request left, and nothing came", { wireRequests: 1 }, undefined, "The reply was lost."],
    [
      "a request left, and the connection broke",
      { wireRequests: 1 },
      { type: "TypeError", code: "ECONNRESET", broke: true },
      "The reply was lost.",
    ],
    [
      "a request left, and the tool failed with something else",
      { wireRequests: 1 },
      BUG,
      "The reply was lost (TypeError: x is undefined).",
    ],
    [
      "no request was seen, and the tool failed",
      { wireRequests: 0 },
      BUG,
      `${THREW} No HTTP request was seen to leave.`,
    ],
    ["the same, where what leaves it is not seen", { unvetoable: true }, BUG, THREW],
    ["no request was seen, and nothing was thrown", { wireRequests: 0 }, {}, "No answer was seen."],
    ["an answer without a status", {}, { answered: true }, "The service answered with an error."],
    [
      "an answer without a status, and what the service said",
      {},
      { answered: true, said: "no funds" },
      'The service answered with an error. It said: "no funds".',
    ],
    ["a status alone", { status: 500 }, undefined, "The service answered 500."],
    [
      "a status, and what was thrown for it",
      { status: 500 },
      BUG,
      `The service answered 500. ${THREW}`,
    ],
    [
      "a status, and what the service said: that is enough",
      { status: 400 },
      { ...BUG, said: "no" },
      'The service answered 400. It said: "no".',
    ],
    [
      "a yes that the tool failed on: both are told",
      { status: 399 },
      { ...BUG, said: "done" },
      `The service answered 399. It said: "done". ${THREW}`,
    ],
    [
      "the tool itself said no, whatever was answered",
      { status: 500 },
      { byTool: true, line: "sold out" },
      'The tool says that it was not applied: "sold out"',
    ],
  ] as const)("%s", (_, attempt, failure, words) => {
    expect(attemptWords(attempt, failure)).toBe(words);
  });
});

describe("what was thrown", () => {
  test.each([
    [undefined, undefined],
    [{}, undefined],
    [{ type: "Error" }, "Error"],
    [{ type: "Error", line: "it broke." }, "Error: it broke"],
    [{ type: "Error", line: "it broke", code: "E_BROKE" }, "Error: it broke, code E_BROKE"],
    [{ type: "Error", line: "E_BROKE: it broke", code: "E_BROKE" }, "Error: E_BROKE: it broke"],
    [{ type: "Error", code: "E_BROKE" }, "Error, code E_BROKE"],
  ])("%j: %s", (failure, words) => {
    expect(thrownWords(failure)).toBe(words);
  });
});

describe("the error of an outcome", () => {
  const facts = { tool: "pay", id: "1", key: "k", replayed: false, recorded: true, attempts: 1 };
  const unknown = { ...facts, wireRequests: 0, at: 0, status: "unknown", reason: "lost_reply" };
  const said = (rest: object): string =>
    String(errorOf({ ...unknown, hint: "Look.", ...rest } as never)?.message);

  test("tells what is known and what was thrown, each once", () => {
    const threw = "TypeError: fetch failed";
    expect(said({ because: "The reply was lost.", threw })).toContain(
      "The reply was lost. The attempt threw TypeError: fetch failed. Look.",
    );
    const because = `The reply was lost (${threw}).`;
    expect(said({ because, threw }).split(threw)).toHaveLength(2);
    expect(said({ because: "", threw })).toContain("The attempt threw TypeError: fetch failed.");
    expect(said({ because: "The reply was lost." })).not.toContain("threw");
  });
});
