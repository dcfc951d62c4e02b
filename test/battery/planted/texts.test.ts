/** That the planted bugs can be planted: a source that has changed leaves one without its place. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bugs } from "./bugs.ts";

const ROOT = join(import.meta.dirname, "../../..");

test.each(bugs)("$name: each text to edit stands once in its file", ({ edits }) => {
  for (const { file, find } of edits) {
    expect(readFileSync(join(ROOT, file), "utf8").split(find), file).toHaveLength(2);
  }
});
