/**
 * The package as it would be published, built from a copy, so that `dist` here stays as it is.
 *
 * @module
 */

import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { runProgram } from "./run-program.ts";

const PARTS = [
  "src",
  "docs",
  "examples",
  "package.json",
  "tsconfig.json",
  "README.md",
  "LICENSE",
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
];

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly files: readonly string[];
}

export interface Packed {
  readonly tarball: string;
  /** Paths in the tarball, without `package/`. */
  readonly files: readonly string[];
  readonly packedBytes: number;
  readonly manifest: Manifest;
}

export function packInto(folder: string): Packed {
  for (const part of PARTS) cpSync(resolve(part), join(folder, part), { recursive: true });
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  // The build prints to stdout, where the answer of `npm pack` is expected.
  runProgram("npm", ["run", "build"], folder);
  const told = runProgram("npm", ["pack", "--json", "--ignore-scripts"], folder);
  const answer: unknown = JSON.parse(told);
  const [pack] = (Array.isArray(answer) ? answer : Object.values(answer as object)) as {
    readonly filename: string;
    readonly size: number;
    readonly files: readonly { readonly path: string }[];
  }[];
  if (!pack) throw new Error(`npm pack said nothing of what it packed:\n${told}`);
  return {
    tarball: join(folder, pack.filename),
    files: pack.files.map(({ path }) => path).sort(),
    packedBytes: pack.size,
    manifest: JSON.parse(readFileSync(join(folder, "package.json"), "utf8")),
  };
}

/** Subpaths as they are imported: `holdfire`, `holdfire/ai`, … */
export const specifiersOf = ({ exports }: Manifest): readonly string[] =>
  Object.entries(exports)
    .filter(([, entry]) => typeof entry !== "string")
    .map(([subpath]) => `holdfire${subpath.slice(1)}`);

/** An empty project with its package.json. */
export function writeProject(folder: string, given: object = {}): void {
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "empty", version: "1.0.0", ...given }),
  );
}
