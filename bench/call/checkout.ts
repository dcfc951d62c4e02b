/**
 * Loads the source of a checkout of holdfire, this one or an older one, by what its `package.json`
 * exports: files move between versions, subpaths do not.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

type Exports = Readonly<Record<string, { readonly default: string } | string>>;

/** The module behind a subpath: `./dist/x.js` is built from `src/x.ts`. */
export async function importFrom(checkout: string, subpath: string): Promise<unknown> {
  const text = readFileSync(resolve(checkout, "package.json"), "utf8");
  const { exports } = JSON.parse(text) as { readonly exports: Exports };
  const entry = exports[subpath];
  if (entry === undefined || typeof entry === "string") {
    throw new Error(`The package in ${checkout} does not export "${subpath}".`);
  }
  const source = entry.default.replace(/^\.\/dist\//, "./src/").replace(/\.js$/, ".ts");
  return import(pathToFileURL(resolve(checkout, source)).href);
}
