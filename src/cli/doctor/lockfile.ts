/**
 * Which packages a lockfile names, for a project whose packages are not installed.
 *
 * npm's is JSON and is parsed. The others are read line by line for what looks like a package with a
 * version: enough for a name, not a parser of their formats.
 *
 * @module
 */

import { join } from "node:path";
import { isRecord, readJson, readStart } from "./read-bounded.ts";

const MOST_BYTES = 64 * 1_048_576;
const LONGEST_LINE = 1_000;

/** A package, in one version. */
export interface FoundPackage {
  readonly name: string;
  readonly version: string;
}

export interface Locked {
  readonly file: string;
  readonly packages: readonly FoundPackage[];
}

type Reader = (path: string) => readonly FoundPackage[] | undefined;

const READERS: Readonly<Record<string, Reader>> = {
  "package-lock.json": fromNpm,
  "npm-shrinkwrap.json": fromNpm,
  "pnpm-lock.yaml": byLine(pnpmPackages),
  "yarn.lock": byLine(yarnPackages),
  "bun.lock": byLine(bunPackages),
};

/** The first lockfile of the folder. */
export function readLockfile(folder: string): Locked | undefined {
  for (const [file, read] of Object.entries(READERS)) {
    const packages = read(join(folder, file));
    if (packages) return { file, packages };
  }
  return undefined;
}

/** Keys of `packages` are places, e.g. `node_modules/a/node_modules/@b/c`. */
function fromNpm(path: string): readonly FoundPackage[] | undefined {
  const lock = readJson(path, MOST_BYTES);
  if (!lock) return undefined;
  const places = isRecord(lock.packages) ? lock.packages : lock.dependencies;
  if (!isRecord(places)) return [];
  return Object.entries(places).flatMap(([place, entry]) => {
    const name = place.split("node_modules/").at(-1) ?? "";
    const version = isRecord(entry) ? entry.version : undefined;
    return name !== "" && typeof version === "string" ? [{ name, version }] : [];
  });
}

function byLine(read: (lines: readonly string[]) => readonly FoundPackage[]): Reader {
  return (path) => {
    const text = readStart(path, MOST_BYTES);
    return text === undefined
      ? undefined
      : read(text.split("\n").map((line) => line.slice(0, LONGEST_LINE)));
  };
}

/** `  openai@7.53.0:`, `  '@anthropic-ai/sdk@1.8.0(zod@4.0.0)':`, and `  /openai@4.0.0:` of old. */
function pnpmPackages(lines: readonly string[]): readonly FoundPackage[] {
  const entry = /^ {2}['"]?\/?((?:@[^/@\s]+\/)?[^/@\s]+)@(\d[^\s:'"(]*)/;
  return lines.flatMap((line) => found(entry.exec(line)));
}

/** `"@scope/name@^1.0.0", …:`, and its version on a line below. */
function yarnPackages(lines: readonly string[]): readonly FoundPackage[] {
  const packages: FoundPackage[] = [];
  let name: string | undefined;
  for (const line of lines) {
    if (/^[^\s#]/.test(line)) name = /^"?((?:@[^/@\s"]+\/)?[^/@\s"]+)@/.exec(line)?.[1];
    const version = /^ {2}version:? "?([^"\s]+)/.exec(line)?.[1];
    if (name !== undefined && version !== undefined) packages.push({ name, version });
  }
  return packages;
}

/** `    "openai": ["openai@7.53.0", …`. */
function bunPackages(lines: readonly string[]): readonly FoundPackage[] {
  const entry = /^\s*"[^"]+": ?\["((?:@[^/@"]+\/)?[^/@"]+)@(\d[^"]*)"/;
  return lines.flatMap((line) => found(entry.exec(line)));
}

function found(match: RegExpExecArray | null): readonly FoundPackage[] {
  const [, name, version] = match ?? [];
  return name !== undefined && version !== undefined ? [{ name, version }] : [];
}
