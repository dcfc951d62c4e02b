/**
 * What becomes of each subpath in a project that has installed nothing but holdfire.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runProgram } from "./run-program.ts";

export interface Loaded {
  readonly specifier: string;
  /** How many names it exports, by `import` and by `require()`; else why it does not load. */
  readonly imported: number | string;
  readonly required: number | string;
  /** Both gave the same functions: one copy, one ledger. */
  readonly same: boolean;
}

const PROGRAM = `
  import { createRequire } from "node:module";
  const require = createRequire(import.meta.url);
  const why = (error) => error.code + " " + /'([^']+)'/.exec(error.message)?.[1];
  const answers = [];
  for (const specifier of JSON.parse(process.argv[2])) {
    const imported = await import(specifier).catch(why);
    let required;
    try { required = require(specifier); } catch (error) { required = why(error); }
    const count = (loaded) => typeof loaded === "string" ? loaded : Object.keys(loaded).length;
    const names = typeof imported === "string" ? [] : Object.keys(imported);
    const same = names.every((name) => imported[name] === required[name]);
    answers.push({ specifier, imported: count(imported), required: count(required), same });
  }
  console.log(JSON.stringify(answers));
`;

export function loadAll(folder: string, specifiers: readonly string[]): readonly Loaded[] {
  writeFileSync(join(folder, "loads.mjs"), PROGRAM);
  // A warning that require() of ES modules is experimental would be one to tell users of.
  const args = ["--throw-deprecation", "loads.mjs", JSON.stringify(specifiers)];
  return JSON.parse(runProgram("node", args, folder));
}

/** What is wrong with what was loaded; nothing, if all is well. */
export function faultsOf(loaded: readonly Loaded[]): readonly string[] {
  return loaded
    .filter(
      ({ imported, required, same }) =>
        typeof imported === "string" || imported !== required || !same || imported === 0,
    )
    .map((one) => JSON.stringify(one));
}
