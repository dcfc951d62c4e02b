/**
 * What `holdfire init` must know of a project: its framework, what it lacks, and how its files are read.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkApp } from "../../key/check-name.ts";
import { UsageError } from "../command.ts";
import { readProject } from "../doctor/project.ts";
import { readJson, readStart } from "../doctor/read-bounded.ts";
import type { Ending } from "./programs.ts";
import type { Template } from "./templates.ts";

export interface Start {
  readonly template: Template;
  /** The package that the choice was made by; `undefined` if it was asked for, or if there is none. */
  readonly because: string | undefined;
  readonly ending: Ending;
  /** The name that the config gives the program: the package's, once and for all. */
  readonly app: string;
  /** Packages that the example imports and the package.json does not ask for. */
  readonly missing: readonly string[];
  /** How the project's package manager adds one. */
  readonly add: string;
  /** TypeScript would object to an import that ends in `.ts`. */
  readonly needsTsExtensions: boolean;
}

const FILE_BYTES = 1_048_576;

/** The first lockfile found tells the package manager. */
const LOCKFILES: Readonly<Record<string, string>> = {
  "pnpm-lock.yaml": "pnpm add",
  "yarn.lock": "yarn add",
  "bun.lock": "bun add",
  "bun.lockb": "bun add",
};

export function startIn(
  folder: string,
  templates: readonly Template[],
  wanted: string | undefined,
): Start {
  const known = new Set([
    "holdfire",
    ...templates.flatMap(({ packages, needs }) => [...packages, ...needs]),
  ]);
  const { dependencies } = readProject(folder, (name) => known.has(name));
  const asked = new Set(dependencies.filter(({ direct }) => direct).map(({ name }) => name));
  const { template, because } = choose(templates, asked, wanted);
  const manifest = readJson(join(folder, "package.json"), FILE_BYTES);
  const lockfile = Object.keys(LOCKFILES).find((name) => existsSync(join(folder, name))) ?? "";
  const tsconfig = readStart(join(folder, "tsconfig.json"), FILE_BYTES);
  return {
    template,
    because,
    ending: manifest?.type === "module" ? "ts" : "mts",
    app: appFrom(manifest?.name),
    missing: ["holdfire", ...template.needs].filter((name) => !asked.has(name)),
    add: LOCKFILES[lockfile] ?? "npm install",
    needsTsExtensions: tsconfig !== undefined && !TS_EXTENSIONS.test(tsconfig),
  };
}

/** Written into the config, so it stays when the package is renamed. */
function appFrom(name: unknown): string {
  try {
    return checkApp(name);
  } catch {
    return "my-agent";
  }
}

const TS_EXTENSIONS = /"(?:allowImportingTsExtensions|rewriteRelativeImportExtensions)"/;

function choose(
  templates: readonly Template[],
  asked: ReadonlySet<string>,
  wanted: string | undefined,
): Pick<Start, "template" | "because"> {
  if (wanted !== undefined) {
    const template = templates.find(({ name }) => name === wanted);
    if (template) return { template, because: undefined };
    const names = templates.map(({ name }) => name).join(", ");
    throw new UsageError(`--framework must be one of ${names}.`);
  }
  for (const template of templates) {
    const because = template.packages.find((name) => asked.has(name));
    if (because !== undefined || template.packages.length === 0) return { template, because };
  }
  throw new Error("No template is for projects without a framework.");
}
