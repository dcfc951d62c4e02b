/**
 * What a project depends on: what its package.json asks for, what is installed, and where nothing is
 * installed, what the lockfile names.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../exit.ts";
import { type FoundPackage, findInstalled } from "./installed.ts";
import { readLockfile } from "./lockfile.ts";
import { isRecord, readJson } from "./read-bounded.ts";

export interface Dependency {
  readonly name: string;
  /** Every version of it, the lowest first; a range if it is only asked for. */
  readonly versions: readonly string[];
  /** The package.json asks for it; else another package brings it along. */
  readonly direct: boolean;
  /** How it was found: `node_modules`, the name of a lockfile, or `package.json`. */
  readonly from: string;
}

export interface Project {
  readonly folder: string;
  readonly dependencies: readonly Dependency[];
  /** `node_modules` was too large to look at all of it. */
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

function installedAbove(name: string, modules: readonly string[]): readonly FoundPackage[] {
  for (const folder of modules) {
    const manifest = readJson(join(folder, name, "package.json"), MANIFEST_BYTES);
    if (typeof manifest?.version === "string") return [{ name, version: manifest.version }];
  }
  return [];
}
