/**
 * Plants each bug into a copy of the sources and runs the catching tests there: exactly those named
 * must fail. A copy without a bug must pass.
 */

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { env, execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bugs } from "./bugs.ts";
import type { Edit } from "./planted-bug.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const VITEST = join(
  dirname(createRequire(import.meta.url).resolve("vitest/package.json")),
  "vitest.mjs",
);
const CATCHERS = "test/battery/planted/*catchers.test.ts";
const CLEAN = "no-bug";

/** The part of vitest's JSON report that is read. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message?: string;
    readonly assertionResults: readonly { readonly title: string; readonly status: string }[];
  }[];
}

let folder = "";
let report: Report = { testResults: [] };

const copyOf = (name: string): string => name.replaceAll(/[^a-z]+/g, "-");

async function copy(name: string, edits: readonly Edit[]): Promise<void> {
  const to = join(folder, copyOf(name));
  await cp(join(ROOT, "src"), join(to, "src"), { recursive: true });
  await cp(join(ROOT, "test/battery"), join(to, "test/battery"), { recursive: true });
  for (const { file, find, replace } of edits) {
    const text = await readFile(join(to, file), "utf8");
    const times = text.split(find).length - 1;
    expect(times, `${name}: the text to edit must stand once in ${file}`).toBe(1);
    await writeFile(
      join(to, file),
      text.replace(find, () => replace),
    );
  }
}

/** One run for all copies: starting vitest takes longer than the tests. */
async function runAll(): Promise<Report> {
  const config = join(folder, "vitest.config.mjs");
  const output = join(folder, "report.json");
  // Below node_modules: nothing may be left out or loaded as it is for that reason.
  const options = { include: [`*/${CATCHERS}`], exclude: [], server: { deps: { inline: true } } };
  await writeFile(config, `export default { test: ${JSON.stringify(options)} };\n`);
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n');
  const args = [VITEST, "run", "--root", folder, "--config", config];
  const clean = Object.fromEntries(
    Object.entries(env).filter(([name]) => !name.startsWith("VITEST")),
  );
  const run = promisify(execFile)(
    execPath,
    [...args, "--reporter=json", `--outputFile=${output}`],
    { cwd: folder, env: clean, maxBuffer: 2 ** 26 },
  );
  // It fails, as it must; what failed is in the report.
  await run.catch(() => {});
  return JSON.parse(await readFile(output, "utf8")) as Report;
}

const failedIn = (name: string): readonly string[] => {
  const files = report.testResults.filter((result) => result.name.includes(`/${copyOf(name)}/`));
  const idle = files.find(({ assertionResults }) => assertionResults.length === 0);
  if (files.length === 0 || idle) throw new Error(`"${name}" did not run: ${idle?.message}`);
  return files
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== "passed")
    .map(({ title }) => title)
    .toSorted();
};

beforeAll(async () => {
  const cache = join(ROOT, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, "planted-"));
  await copy(CLEAN, []);
  for (const { name, edits } of bugs) await copy(name, edits);
  report = await runAll();
}, 900_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("planted bugs", () => {
  test("a copy without a bug passes", () => {
    expect(failedIn(CLEAN)).toEqual([]);
  });

  test.each(bugs)("caught: $name", ({ name, caughtBy }) => {
    expect(failedIn(name)).toEqual(caughtBy.toSorted());
  });

  test("every one is caught", () => {
    const caught = bugs.filter(({ name }) => failedIn(name).length > 0);
    console.log(`${caught.length}/${bugs.length} planted bugs caught`);
    expect(caught).toHaveLength(bugs.length);
  });
});
