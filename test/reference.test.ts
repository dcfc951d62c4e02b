/** The API reference is what the types say today, and leaves out no name. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { exportsOf, statementsOf } from "../docs/reference/declarations.ts";
import { makeReference } from "../docs/reference/generate.ts";
import manifest from "../package.json" with { type: "json" };
import { REFERENCE, textOf } from "./pages.ts";

const pages = makeReference();

test("the pages are up to date; if not, run: node docs/reference/generate.ts", () => {
  const stale = [...pages].filter(
    ([name, text]) =>
      !REFERENCE.includes(`docs/reference/${name}`) || textOf(`docs/reference/${name}`) !== text,
  );
  expect(stale.map(([name]) => name)).toEqual([]);
  expect(REFERENCE).toHaveLength(pages.size);
});

test("every value that an entry exports is on its page", async () => {
  for (const [subpath, entry] of Object.entries(manifest.exports)) {
    if (typeof entry === "string") continue;
    const source = entry.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    const names = Object.keys(await import(/* @vite-ignore */ pathToFileURL(source).href));
    const page = pages.get(`${subpath.slice(2) || "holdfire"}.md`) ?? "";
    expect(names.filter((name) => !page.includes(`\n### ${name}\n`))).toEqual([]);
  }
});

test("statements end where they end, whatever stands inside", () => {
  const text = `/**
 * What it is for.
 *
 * @module
 */
import type { A } from "./a.ts";
/** A text; with { all } of it. */
export declare const text: "a;b}" | \`x-\${string};\`;
/** Members. */
export interface B extends A {
    /** Ends; here } */
    readonly c: { readonly d: () => void; };
}
export declare function f(b: B): void;
export declare function f(b: B, c: number): void;
`;
  const { header, statements } = statementsOf(text);
  expect(header).toContain("What it is for.");
  expect(statements.map(({ text }) => text.split("\n")[0])).toEqual([
    'import type { A } from "./a.ts";',
    'export declare const text: "a;b}" | `x-$\u007bstring};`;',
    "export interface B extends A {",
    "export declare function f(b: B): void;",
    "export declare function f(b: B, c: number): void;",
  ]);
  expect(statements[2]?.comment).toBe("/** Members. */");
});

test("an export that it does not know is an error, not an omission", () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-reference-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "star.d.ts");
  writeFileSync(file, 'export * from "./other.ts";\n');
  expect(() => exportsOf(file)).toThrow("not expected");
});
