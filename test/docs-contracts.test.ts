/** The store and the adapter that the docs show pass the contract suites, as they stand on their pages. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { fromSources, programsOf } from "./pages.ts";

const FOLDER = resolve("node_modules/.cache/holdfire-docs-contracts");

/** Each page is one program, which registers its suite when it is loaded. */
async function register(page: string): Promise<object> {
  const [program = "", ...others] = programsOf(page);
  if (others.length > 0) throw new Error(`${page} has more than one program.`);
  mkdirSync(FOLDER, { recursive: true });
  const file = join(FOLDER, `${page.replaceAll("/", "-")}.ts`);
  writeFileSync(file, fromSources(program));
  return import(/* @vite-ignore */ pathToFileURL(file).href);
}

const store = await register("docs/write-a-store.md");
const adapter = await register("docs/write-an-adapter.md");

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

test("both pages export what they show", () => {
  expect(Object.keys(store)).toEqual(["mapStore"]);
  expect(Object.keys(adapter)).toEqual(["guardTool"]);
});
