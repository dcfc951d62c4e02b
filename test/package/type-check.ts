/**
 * Projects of users who have TypeScript, of several versions and with the settings they have.
 *
 * @module
 */

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { tryProgram } from "./run-program.ts";

/** Subpaths whose types name a package that the user brings. */
const PEERS: Readonly<Record<string, readonly string[]>> = {
  "holdfire/ai": ["ai"],
  "holdfire/langchain": ["langchain", "@langchain/core"],
  "holdfire/testing": ["vitest"],
};

export const RESOLUTIONS: Readonly<Record<string, object>> = {
  nodenext: { module: "nodenext" },
  bundler: { module: "esnext", moduleResolution: "bundler" },
};

const STRICT = {
  target: "es2023",
  lib: ["es2023"],
  types: ["node"],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
};

/** One call whose types are wrong without ours: a result, an outcome, a reader. */
const USE = `
import { absent, committed, createHoldfire } from "holdfire";
const hf = createHoldfire();
const pay = hf.tool({
  name: "pay",
  kind: "write",
  run: async ({ cents }: { cents: number }, { key }) => ({ id: key, cents }),
  readState: async ({ key }) => (key === "" ? absent() : committed({ id: key, cents: 1 })),
});
const id: string = (await pay({ cents: 1 }, { scope: "s" })).id;
// @ts-expect-error the arguments are checked
await pay({ cents: "1" });
const outcome = await pay.outcome({ cents: 1 }, { scope: "s" });
if (outcome.status === "committed" && !outcome.resultLost) console.log(id, outcome.result.cents);
`;

/** Writes what a user might: all subpaths imported, one of them used, and the same from CommonJS. */
export function writeUses(folder: string, specifiers: readonly string[], withPeers: boolean): void {
  const wanted = specifiers.filter((specifier) => withPeers || !PEERS[specifier]);
  const imports = wanted.map((specifier, n) => `import * as m${n} from "${specifier}";`);
  const uses = wanted.map((_, n) => `void m${n};`);
  writeFileSync(join(folder, "use.mts"), [...imports, USE, ...uses].join("\n"));
  const required = wanted.map((specifier, n) => `import m${n} = require("${specifier}");`);
  writeFileSync(join(folder, "use.cts"), [...required, ...uses].join("\n"));
  if (withPeers) for (const peer of Object.values(PEERS).flat()) link(peer, folder);
  link("@types/node", folder);
}

function link(name: string, folder: string): void {
  const path = join(folder, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(resolve("node_modules", name), path);
}

export interface Checked {
  /** In our types, or in the user's own file. */
  readonly ours: readonly string[];
  /** In the types of other packages, which nobody here can mend. */
  readonly others: number;
}

export function typeCheck(tsc: string, folder: string, resolution: string): Checked {
  const config = {
    compilerOptions: { ...STRICT, ...RESOLUTIONS[resolution] },
    // Bundlers know no require().
    files: resolution === "nodenext" ? ["use.mts", "use.cts"] : ["use.mts"],
  };
  const name = `tsconfig.${resolution}.json`;
  writeFileSync(join(folder, name), JSON.stringify(config));
  const { status, out, err } = tryProgram(tsc, ["-p", name, "--pretty", "false"], folder);
  const errors = out.split("\n").filter((line) => /\berror TS\d+:/.test(line));
  if (status !== 0 && errors.length === 0) throw new Error(`${tsc} failed:\n${out}\n${err}`);
  const isOurs = (line: string) => /^(?:use\.|tsconfig|error |node_modules\/holdfire\/)/.test(line);
  const ours = errors.filter(isOurs);
  return { ours, others: errors.length - ours.length };
}
