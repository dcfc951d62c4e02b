/**
 * What the import of the package costs in a fresh process, and how large it is installed, beside the
 * packages people use instead.
 *
 * @module
 */

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { HOLDFIRE } from "../call/cases.ts";
import type { Part } from "./part.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const PACKAGES: readonly string[] = [
  "p-retry",
  "cockatiel",
  "@node-idempotency/core",
  "@aws-lambda-powertools/idempotency",
  "@restatedev/restate-sdk",
  "@dbos-inc/dbos-sdk",
];

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>> | undefined;
}

export const imports: Part = {
  groups: ["import"],
  async measure(_wanted, { rounds }, report) {
    report("import: building", false);
    execFileSync("npm", ["run", "build"], { cwd: ROOT });
    const entry = pathToFileURL(join(ROOT, "dist/index.js")).href;
    const modules = new Map([[HOLDFIRE, entry], ...PACKAGES.map((name) => [name, name] as const)]);
    const times = new Map([...modules.keys()].map((name) => [name, [] as number[]]));
    // One round to warm the disk.
    for (let round = 0; round <= rounds; round += 1) {
      report(`import, round ${round} of ${rounds}`, false);
      for (const [name, module] of round % 2 === 0 ? modules : [...modules].toReversed()) {
        const ms = importOnce(module);
        if (round > 0) times.get(name)?.push(ms);
      }
    }
    report("import done", true);
    const series = [...times].map(([name, ms]) => ({
      group: "import",
      name,
      at: "",
      rounds: { ms, kb: [(name === HOLDFIRE ? ownBytes() : installedBytes([name])) / 1_024] },
    }));
    return { series, notRun: [] };
  },
};

/** Milliseconds of the import alone, measured inside a process that does nothing else. */
function importOnce(module: string): number {
  const code = `const t = performance.now(); await import(${JSON.stringify(module)}); console.log(performance.now() - t); process.exit();`;
  const args = ["--input-type=module", "--eval", code];
  return Number(execFileSync(process.execPath, args, { cwd: ROOT, encoding: "utf8" }));
}

/** What npm would unpack, and the packages it depends on. */
function ownBytes(): number {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts"];
  const [packed] = JSON.parse(execFileSync("npm", args, { cwd: ROOT, encoding: "utf8" })) as [
    { readonly unpackedSize: number },
  ];
  return packed.unpackedSize + installedBytes(dependenciesOf(ROOT));
}

const dependenciesOf = (folder: string): string[] => {
  const text = readFileSync(join(folder, "package.json"), "utf8");
  return Object.keys((JSON.parse(text) as Manifest).dependencies ?? {});
};

/** Each package once, with all that it depends on. */
function installedBytes(names: readonly string[]): number {
  const folders = new Set<string>();
  const visit = (name: string, from: string): void => {
    const folder = folderOf(name, from);
    if (folder === undefined || folders.has(folder)) return;
    folders.add(folder);
    for (const dependency of dependenciesOf(folder)) visit(dependency, folder);
  };
  for (const name of names) visit(name, ROOT);
  return [...folders].reduce((sum, folder) => sum + bytesIn(folder), 0);
}

/** As Node looks for it: in the nearest `node_modules` upward. */
function folderOf(name: string, from: string): string | undefined {
  const folder = join(from, "node_modules", name);
  if (existsSync(join(folder, "package.json"))) return folder;
  return from === ROOT || dirname(from) === from ? undefined : folderOf(name, dirname(from));
}

/** Without the packages inside, which are counted by themselves. */
function bytesIn(folder: string): number {
  return readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== "node_modules")
    .reduce((sum, entry) => {
      const path = join(folder, entry.name);
      return sum + (entry.isDirectory() ? bytesIn(path) : entry.isFile() ? statSync(path).size : 0);
    }, 0);
}
