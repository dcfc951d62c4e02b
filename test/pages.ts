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

/** Where the links of a page lead, and where its pictures are. */
export const linksOf = (page: string): readonly string[] =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);

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

interface Program {
  /** The file in which the page says to save it. */
  readonly name: string | undefined;
  readonly lines: string[];
}

function readPrograms(page: string): readonly Program[] {
  const programs: Program[] = [];
  let inside = false;
  let first = false;
  let name: string | undefined;
  for (const [index, line] of textOf(page).split("\n").entries()) {
    if (line.startsWith("```")) {
      inside = line === "```ts";
      first = inside;
      continue;
    }
    if (!inside) {
      name = /\bSave this as `([\w.-]+)`/.exec(line)?.[1] ?? name;
      continue;
    }
    if (programs.length === 0 || (first && line.startsWith("import "))) {
      programs.push({ name, lines: [] });
      name = undefined;
    }
    first = false;
    const lines = programs.at(-1)?.lines ?? [];
    while (lines.length < index) lines.push("");
    lines.push(line);
  }
  return programs;
}

/**
 * The programs of a page. An example that imports starts one, the others go on with it. Every line
 * stands where it stands on the page, so an error's line number is the page's.
 */
export const programsOf = (page: string): readonly string[] =>
  readPrograms(page).map(({ lines }) => lines.join("\n"));

/** The file names of a page's programs, for those that other programs of the page import. */
export const namesOf = (page: string): readonly (string | undefined)[] =>
  readPrograms(page).map(({ name }) => name);

const ENTRIES: Readonly<Record<string, string | { readonly default: string }>> = manifest.exports;

/** The program with what it imports from the package taken from the sources. */
export const fromSources = (program: string): string =>
  program.replaceAll(/ from "holdfire(\/[\w-]+)?"/g, (_, subpath = "") => {
    const entry = ENTRIES[`.${subpath}`];
    if (typeof entry !== "object") throw new Error(`There is no holdfire${subpath}.`);
    const source = entry.default.replace("./dist/", "src/").replace(/\.js$/, ".ts");
    return ` from ${JSON.stringify(pathToFileURL(resolve(source)).href)}`;
  });
