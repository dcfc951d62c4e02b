/**
 * The pages that are checked: those at the root and in docs, and what stands in them.
 *
 * @module
 */

import { globSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import manifest from "../package.json" with { type: "json" };

/** Written by hand. */
export const PAGES: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...globSync("docs/*.md").sort(),
  ...globSync("docs/design/*.md").sort(),
];

/** Made from the types. */
export const REFERENCE: readonly string[] = globSync("docs/reference/*.md").sort();

export const textOf = (path: string): string => readFileSync(path, "utf8");

/** The page without its examples: a `#` in a shell script is no heading. */
export const proseOf = (path: string): string =>
  textOf(path).replaceAll(/^```.*\n[\s\S]*?^```$/gm, "");

/** As GitHub makes them from headings; the second of the same name gets a number. */
export function anchorsOf(page: string): readonly string[] {
  const seen = new Map<string, number>();
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => {
    const anchor = heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-");
    const before = seen.get(anchor) ?? 0;
    seen.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

/**
 * The programs of a page. An example that imports starts one, the others go on with it. Every line
 * stands where it stands on the page, so an error's line number is the page's.
 */
export function programsOf(page: string): readonly string[] {
  const programs: string[][] = [];
  let inside = false;
  let first = false;
  for (const [index, line] of textOf(page).split("\n").entries()) {
    if (line.startsWith("```")) {
      inside = line === "```ts";
      first = inside;
      continue;
    }
    if (!inside) continue;
    if (programs.length === 0 || (first && line.startsWith("import "))) programs.push([]);
    first = false;
    const program = programs.at(-1) ?? [];
    while (program.length < index) program.push("");
    program.push(line);
  }
  return programs.map((program) => program.join("\n"));
}

const ENTRIES: Readonly<Record<string, string | { readonly default: string }>> = manifest.exports;

/** The program with what it imports from the package taken from the sources. */
export const fromSources = (program: string): string =>
  program.replaceAll(/ from "holdfire(\/[\w-]+)?"/g, (_, subpath = "") => {
    const entry = ENTRIES[`.${subpath}`];
    if (typeof entry !== "object") throw new Error(`There is no holdfire${subpath}.`);
    const source = entry.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return ` from ${JSON.stringify(pathToFileURL(resolve(source)).href)}`;
  });
