/**
 * Fetches other versions of Node, and Bun and Deno, as packages of npm. They go where caches go; what is there
 * already is not fetched again.
 *
 * @module
 */

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { runProgram } from "../package/run-program.ts";

export type Kind = "node" | "bun" | "deno";

/** What to fetch: a version, or the newest of a major one. */
export interface Wanted {
  readonly kind: Kind;
  readonly version: string;
}

export interface Runtime extends Wanted {
  /** As it says itself. */
  readonly found: string;
  /** The program, and what it needs before the name of a script. */
  readonly argv: readonly string[];
  readonly folder: string;
}

const FLAGS = ["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
const PLACE = resolve("node_modules/.cache/runtimes");

/** Node's package has a script that installs another one, named by the platform; that one is enough. */
function packageOf(kind: Kind): string {
  if (kind !== "node") return kind;
  const prefix = process.platform === "darwin" && process.arch === "arm64" ? "node-bin" : "node";
  return `${prefix}-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
}

/** Several versions of Node have a folder each. */
const folderOf = ({ kind, version }: Wanted): string =>
  kind === "node" ? `node-${version}` : kind;

/** Throws what npm said if something cannot be fetched. */
export function install(wanted: readonly Wanted[]): readonly Runtime[] {
  mkdirSync(PLACE, { recursive: true });
  // Else npm would save to the package.json of this repository. What it saves, it keeps.
  const manifest = join(PLACE, "package.json");
  if (!existsSync(manifest)) writeFileSync(manifest, JSON.stringify({ private: true }));
  const specs = wanted.map((one) => `${folderOf(one)}@npm:${packageOf(one.kind)}@${one.version}`);
  runProgram("npm", ["install", "--prefix", PLACE, ...FLAGS, ...specs], PLACE);
  return wanted.map(locate);
}

function locate(wanted: Wanted): Runtime {
  const { kind } = wanted;
  const modules = join(PLACE, "node_modules");
  const program =
    kind === "node" ? join(modules, folderOf(wanted), "bin", "node") : join(modules, ".bin", kind);
  const told = runProgram(program, ["--version"], PLACE);
  const found = /\d+\.\d+\.\d+/.exec(told)?.[0];
  if (!found) throw new Error(`${program} does not say its version: ${told}`);
  const argv = kind === "deno" ? [program, "run", "--allow-all"] : [program];
  return { ...wanted, found, argv, folder: dirname(program) };
}
