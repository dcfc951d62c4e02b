/**
 * Makes the API reference from the types: a page for each subpath of the package, with every exported
 * name, its comment and its signature.
 *
 *   node docs/reference/generate.ts
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import {
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Declared, exportsOf, referredToBy, statementsOf } from "./declarations.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FOLDER = fileURLToPath(new URL(".", import.meta.url));

const GROUPS = [
  { title: "Functions", kind: "function" },
  { title: "Values", kind: "value" },
  { title: "Classes", kind: "class" },
  { title: "Types", kind: "type" },
] as const satisfies readonly { title: string; kind: Declared["kind"] }[];

/** File name to text, for all pages. Writes nothing but a temporary folder. */
export function makeReference(): ReadonlyMap<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-reference-"));
  try {
    const types = join(folder, "types");
    run("tsc", ["-p", join(ROOT, "src"), "--outDir", types, "--emitDeclarationOnly"], ROOT);
    const entries = entriesOf(types);
    const homes = homesOf(entries);
    const pages = entries.map((entry) => [fileOf(entry.name), pageOf(entry, homes)] as const);
    return formatted(new Map([...pages, ["README.md", indexOf(entries)]]), join(folder, "pages"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As the linter wants them, signatures included. */
function formatted(pages: ReadonlyMap<string, string>, folder: string): Map<string, string> {
  mkdirSync(folder);
  // Without its reference to a repository: there is none in the temporary folder.
  const { formatter } = JSON.parse(readFileSync(join(ROOT, "biome.json"), "utf8"));
  writeFileSync(join(folder, "biome.json"), JSON.stringify({ root: true, formatter }));
  for (const [name, text] of pages) writeFileSync(join(folder, name), text);
  run("biome", ["format", "--write", "."], folder);
  return new Map([...pages.keys()].map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}

function run(program: string, args: readonly string[], cwd: string): void {
  const path = join(ROOT, "node_modules/.bin", program);
  const { status, stdout, stderr } = spawnSync(path, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} failed:\n${stdout}${stderr}`);
}

interface Entry {
  /** As it is imported: `holdfire/fetch`. */
  readonly name: string;
  readonly about: string;
  readonly exported: readonly Declared[];
}

function entriesOf(types: string): readonly Entry[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
  };
  return Object.entries(manifest.exports).flatMap(([subpath, entry]) => {
    if (typeof entry === "string") return [];
    const file = join(types, entry.types.replace(/^\.\/dist\//, ""));
    const about = proseOf(statementsOf(readFileSync(file, "utf8")).header);
    return [{ name: join("holdfire", subpath), about, exported: exportsOf(file) }];
  });
}

const fileOf = (name: string): string => `${name.replace(/^holdfire\/?/, "") || "holdfire"}.md`;

/** The entry that exports a name, for names that exactly one exports: `guardTools` is in many. */
function homesOf(entries: readonly Entry[]): ReadonlyMap<string, string> {
  const homes = new Map<string, string>();
  for (const { name, exported } of entries) {
    for (const one of exported) homes.set(one.name, homes.has(one.name) ? "" : name);
  }
  return homes;
}

function pageOf({ name, about, exported }: Entry, homes: ReadonlyMap<string, string>): string {
  const own = new Set(exported.map((one) => one.name));
  const referred = referredToBy(exported, (one) => own.has(one) || Boolean(homes.get(one)));
  const groups = GROUPS.map(({ title, kind }) => ({
    title,
    those: exported.filter((one) => one.kind === kind).sort((a, b) => (a.name < b.name ? -1 : 1)),
  })).filter(({ those }) => those.length > 0);
  return [
    `# ${name}`,
    "<!-- Made by docs/reference/generate.ts from the types. Change the comments in src instead. -->",
    about,
    ...groups.flatMap(({ title, those }) => [`## ${title}`, ...those.map(sectionOf)]),
    ...(referred.length > 0 ? [REFERRED, ...referred.map(sectionOf)] : []),
    "[All subpaths](README.md)",
    "",
  ].join("\n\n");
}

const REFERRED =
  '## Types that these refer to\n\nNot exported by name. To write one down, take it from the type that has it: `HoldfireOptions["retry"]`.';

function sectionOf({ name, comment, declarations }: Declared): string {
  const prose = proseOf(comment);
  const signature = declarations.map(signatureOf).join("\n");
  return [`### ${name}`, ...(prose ? [prose] : []), `\`\`\`ts\n${signature}\n\`\`\``].join("\n\n");
}

/** Two spaces of indentation, as in the sources. */
const signatureOf = (text: string): string =>
  text
    .replace(/^export (?:declare )?/, "")
    .replaceAll(/^(?: {4})+/gm, (spaces) => " ".repeat(spaces.length / 2));

/** The words of a doc comment; its tags become words, too. */
function proseOf(comment: string): string {
  return comment
    .replace(/^\/\*\*\s?/, "")
    .replace(/\s*\*\/$/, "")
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, ""))
    .join("\n")
    .replaceAll(/^@module$/gm, "")
    .replaceAll(/^@example\s*$/gm, "Example:\n")
    .replaceAll(/@default (.+)$/gm, "Default: $1.")
    .trim();
}

function indexOf(entries: readonly Entry[]): string {
  const rows = entries.map(({ name, about, exported }) => {
    const [first = ""] = about.split("\n\n");
    const sentence = first.replaceAll("\n", " ").replaceAll("|", "\\|");
    return `| [\`${name}\`](${fileOf(name)}) | ${exported.length} | ${sentence} |`;
  });
  return [
    "# API reference",
    "<!-- Made by docs/reference/generate.ts from the types. -->",
    "> For the exact name, type and default of something. One page for each subpath; made from the types in the sources.",
    ["| Import | Names | What it is |", "| --- | --- | --- |", ...rows].join("\n"),
    "[All pages](../README.md)",
    "",
  ].join("\n\n");
}

const isMain = process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url);
if (isMain) {
  const pages = makeReference();
  for (const old of globSync("*.md", { cwd: FOLDER })) {
    if (!pages.has(old)) rmSync(join(FOLDER, old));
  }
  for (const [name, text] of pages) writeFileSync(join(FOLDER, name), text);
  console.log(`${pages.size} pages`);
}
