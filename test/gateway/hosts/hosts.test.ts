/** Real clients of the gateway: a few of the plays that `npm run hosts` and the proof run in full, and their judge. */
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { LIBRARIES } from "./client.ts";
import { COLUMNS, type Column } from "./columns.ts";
import { problemOf } from "./judge.ts";
import { play, type Seen } from "./play.ts";

const newFolder = temporaryFolder();
const LONG_MS = 200_000;

const named = (library: string, title: string) => {
  const found = LIBRARIES.find(({ name }) => name === library);
  const column = COLUMNS.find((one) => one.title === title);
  if (!found || !column) throw new Error(`There is no ${library} with ${title}.`);
  return { library: found, column };
};

test.concurrent.each([named("mastra", "Server killed"), named("ai", "Host killed, started again")])(
  "$library.title, $column.title",
  async ({ library, column }) => {
    const seen = await play(library, column, "gateway", newFolder());
    expect({ problem: problemOf(seen, column, "gateway"), seen }).toMatchObject({
      problem: undefined,
    });
  },
  LONG_MS,
);

describe("the judge", () => {
  const { column } = named("ai", "Server killed");
  const unknown = { words: ['{"outcome":"unknown"}'], complained: "" };
  const seen = (payments: number, isHit = true): Seen => ({ ...unknown, payments, isHit });

  test("a fault that was not hit fails, however many payments there are", () => {
    expect(problemOf(seen(1, false), column, "gateway")).toContain("not hit");
    expect(problemOf(seen(2, false), column, "bare")).toContain("not hit");
  });

  test("with the gateway it is one payment, without it two or three", () => {
    const isFine = (payments: number, way: "bare" | "gateway") =>
      problemOf(seen(payments), column, way) === undefined;
    expect([0, 1, 2, 3, 4].filter((payments) => isFine(payments, "gateway"))).toEqual([1]);
    expect([0, 1, 2, 3, 4].filter((payments) => isFine(payments, "bare"))).toEqual([2, 3]);
  });

  test("what the model is told last must be true", () => {
    const told = (words: string, of: Column) =>
      problemOf({ ...seen(1), words: [words] }, of, "gateway");
    expect(told("Paid, as payment 1.", column)).toContain("told last");
    expect(told('{"outcome":"unknown"}', { ...column, told: "answer" })).toContain("told last");
    expect(told("Request timed out", column)).toContain("told last");
  });
});
