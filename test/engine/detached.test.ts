/** In a process of its own: what it shows depends on the first call being the one that loads the engine. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const CHILD = fileURLToPath(new URL("detached-child.ts", import.meta.url));

test("what is resent without a caller has neither the context of who started it nor of the first call", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD]);
  expect(JSON.parse(stdout)).toEqual(["ana", "nobody"]);
});
