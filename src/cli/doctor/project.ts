/**
 * What a project depends on: what its package.json asks for, what is installed in whatever way npm, pnpm, Yarn or
 * Bun has laid it out, and where nothing is installed, what the lockfile names.
 *
 * @module
 */

import { existsSync, lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../command.ts";
import { type FoundPackage, readLockfile } from "./lockfile.ts";
import { isRecord, namesIn, readJson } from "./read-bounded.ts";

export interface Dependency {
  readonly name: string;
  /** Every version of it, the lowest first; a range if it is only asked for. */
  readonly versions: readonly string[];
  /** The package.json asks for it; else it is a transitive dependency. */
  readonly direct: boolean;
  /** How it was found: `node_modules`, the name of a lockfile, or `package.json`. */
  readonly from: string;
}

export interface Project {
  readonly folder: string;
  readonly dependencies: readonly Dependency[];
  /** `node_modules` was too large to read all of it. */
  readonly cut: boolean;
}

const KINDS = ["dependencies", "optionalDependencies", "peerDependencies", "devDependencies"];
const MANIFEST_BYTES = 4 * 1_048_576;

/** The dependencies of the project in `folder` whose name is wanted. */
export function readProject(folder: string, isWanted: (name: string) => boolean): Project {
  const path = join(folder, "package.json");
  if (!existsSync(path)) {
    throw new UsageError(`There is no package.json in ${folder}.`, "Name the project's folder.");
  }
  const manifest = readJson(path, MANIFEST_BYTES);
  if (!manifest) throw new UsageError(`${path} cannot be read as JSON.`);
  const asked = askedFor(manifest);
  const own = findInstalled(join(folder, "node_modules"), isWanted);
  const lock = readLockfile(folder);
  const above = foldersAbove(folder).map((higher) => join(higher, "node_modules"));
  const sources: Source[] = [
    { from: "node_modules", packages: own.packages },
    { from: "node_modules", packages: asked.flatMap(({ name }) => installedAbove(name, above)) },
    // What is locked but not installed is not run, unless nothing is installed at all.
    {
      from: lock?.file ?? "",
      packages: (lock?.packages ?? []).filter(
        ({ name }) => own.packages.length === 0 || asked.some((ask) => ask.name === name),
      ),
    },
    { from: "package.json", packages: asked },
  ];
  const isDirect = new Set(asked.map(({ name }) => name));
  return { folder, dependencies: merged(sources, isWanted, isDirect), cut: own.cut };
}

interface Source {
  readonly from: string;
  readonly packages: readonly FoundPackage[];
}

/** The first source that has a package tells its versions. */
function merged(
  sources: readonly Source[],
  isWanted: (name: string) => boolean,
  isDirect: ReadonlySet<string>,
): readonly Dependency[] {
  const all = new Map<string, Dependency>();
  for (const { from, packages } of sources) {
    const names = new Set(packages.map(({ name }) => name).filter(isWanted));
    for (const name of names) {
      if (all.has(name)) continue;
      const those = packages.filter((found) => found.name === name);
      const versions = [...new Set(those.map(({ version }) => version))].sort(byNumber);
      all.set(name, { name, versions, direct: isDirect.has(name), from });
    }
  }
  return [...all.values()];
}

const byNumber = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

function askedFor(manifest: Readonly<Record<string, unknown>>): readonly FoundPackage[] {
  return KINDS.flatMap((kind) => {
    const asked = manifest[kind];
    if (!isRecord(asked)) return [];
    return Object.entries(asked).map(([name, version]) => ({ name, version: String(version) }));
  });
}

/** Where Node looks next: a workspace's packages may be installed at its root. */
function foldersAbove(folder: string): readonly string[] {
  const above: string[] = [];
  for (let at = resolve(folder); dirname(at) !== at; at = dirname(at)) above.push(dirname(at));
  return above;
}

/** The package in this folder, if there is one. */
function installedAt(name: string, folder: string): readonly FoundPackage[] {
  const manifest = readJson(join(folder, "package.json"), MANIFEST_BYTES);
  return typeof manifest?.version === "string" ? [{ name, version: manifest.version }] : [];
}

const installedAbove = (name: string, modules: readonly string[]): readonly FoundPackage[] =>
  modules
    .map((folder) => installedAt(name, join(folder, name)))
    .find((found) => found.length > 0) ?? [];

const MOST_FOLDERS = 50_000;
const DEEPEST = 12;

/** The packages below `folder` (a `node_modules`) whose name is wanted. */
function findInstalled(folder: string, isWanted: (name: string) => boolean) {
  const packages: FoundPackage[] = [];
  let left = MOST_FOLDERS;

  function walk(modules: string, depth: number) {
    for (const entry of namesIn(modules)) {
      if (left <= 0) return;
      if (entry === ".pnpm") walkPnpm(join(modules, entry));
      if (entry.startsWith(".")) continue;
      const names = entry.startsWith("@")
        ? namesIn(join(modules, entry)).map((name) => `${entry}/${name}`)
        : [entry];
      for (const name of names) visit(name, join(modules, name), depth);
    }
  }

  function visit(name: string, path: string, depth: number) {
    left -= 1;
    if (isWanted(name)) packages.push(...installedAt(name, path));
    // A link leads to a place that is walked by itself, or out of the project.
    if (depth < DEEPEST && left > 0 && !isLink(path)) walk(join(path, "node_modules"), depth + 1);
  }

  /** `.pnpm/@scope+name@1.2.3_peer/node_modules/@scope/name`: every version that is installed. */
  function walkPnpm(place: string) {
    for (const entry of namesIn(place)) {
      left -= 1;
      const name = entry.slice(0, entry.indexOf("@", 1)).replace("+", "/");
      const path = join(place, entry, "node_modules", name);
      if (left > 0 && isWanted(name)) packages.push(...installedAt(name, path));
    }
  }

  walk(folder, 0);
  return { packages, cut: left <= 0 };
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return true;
  }
}
