import { describe, expect, test } from "vitest";
import {
  absent,
  brokenReader,
  cannotTell,
  checkReading,
  committed,
  duplicated,
  inProgress,
} from "../../src/engine/define/reading.ts";

describe("what a reader may answer", () => {
  test.each([
    ["committed", committed(1)],
    ["committed with its id", committed({ a: 1 }, { effectId: "ef_1" })],
    ["committed, with nothing to show", committed(undefined)],
    ["absent", absent()],
    ["in progress", inProgress()],
    ["duplicated", duplicated([1, 2])],
    ["cannot tell", cannotTell("the index is down")],
  ])("%s is taken as it is", (_, reading) => {
    expect(checkReading(reading)).toEqual(reading);
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a boolean", true],
    ["a text", "committed"],
    ["a number", 1],
    ["an empty object", {}],
    ["an array", []],
    ["an unknown word", { reading: "found" }],
    ["a word of the prototype", { reading: "toString" }],
    ["a reading that is no text", { reading: 1 }],
    ["duplicates without results", { reading: "duplicated" }],
    ["no duplicates", { reading: "duplicated", results: [] }],
    ["duplicates that are no list", { reading: "duplicated", results: "two" }],
    ["an effect id that is no text", { reading: "committed", result: 1, effectId: 1 }],
    ["an effect id without end", { reading: "committed", result: 1, effectId: "x".repeat(513) }],
  ])("%s is nonsense: cannot tell", (_, answer) => {
    expect(checkReading(answer)).toEqual(brokenReader("nonsense"));
  });
});
