/** Where a living mutant could mean a write that is fired twice, each one has its explanation. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readScores } from "./scores.ts";

const EXPLAINED = [
  /^src\/classify\//,
  /^src\/ledger\/moves\/(apply|claim-moves)\.ts$/,
  /^src\/engine\/steps\/(claim|settle)\.ts$/,
];

const page = readFileSync(new URL("survivors.md", import.meta.url), "utf8");

/** The places that the section of each file names. */
const explained = new Map(
  page.split(/^## /m).map((section) => {
    const [file = "", ...lines] = section.split("\n");
    const places = lines.join("\n").match(/(?<=`)\d+:\d+(?=`)/g);
    return [file.replaceAll("`", "").trim(), new Set<string>(places)] as const;
  }),
);

const living = Object.entries(readScores())
  .filter(([file]) => EXPLAINED.some((pattern) => pattern.test(file)))
  .map(
    ([file, { alive }]) =>
      [file, new Set(Object.keys(alive).map((one) => one.split(" ", 1)[0]))] as const,
  );

test.each(living)("%s: each mutant that lives is explained, and no other", (file, places) => {
  expect([...(explained.get(file) ?? [])].toSorted()).toEqual([...places].toSorted());
});
