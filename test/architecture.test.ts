/** Keeps the folder tree honest: imports point one way, files stay small and say what they are for. */
import { globSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

/** Each layer may import from those before it in this list, never from those after it. */
const LAYERS = [
  "version.ts",
  "error-base.ts",
  "reasons.ts",
  "errors.ts",
  "lang",
  "key",
  "ledger",
  "store.ts",
  "stores",
  "classify",
  "wire",
  "observe",
  "engine",
  "gate",
  "reconcile",
  "api.ts",
  "describe",
  "http-tool",
  "recipes",
  "integrations",
  "holdfire.ts",
  "create.ts",
  "testing",
  "gateway",
  "chaos",
  "console",
  "cli",
  "index.ts",
  "bundle.ts",
];

/** The same inside the engine: a file or a folder each. */
const ENGINE = [
  "define",
  "called-by.ts",
  "attempt-context.ts",
  "backoff.ts",
  "budget.ts",
  "passes.ts",
  "store-call.ts",
  "operation",
  "live-operations.ts",
  "engine.ts",
  "engine-of.ts",
  "claim-terms.ts",
  "fire-once.ts",
  "same-intent.ts",
  "reader.ts",
  "thread.ts",
  "outcome",
  "reads-and-samples",
  "steps",
  "run.ts",
  "call",
  "admin",
];

const MAX_FILES = 20;

/** Only these see stores: a store must not be picked by those who work on any. */
const SEES_STORES = ["stores", "testing", "create.ts", "cli", "console"];

/** A store knows the contract it keeps, and nothing of those who use it. */
const STORES_SEE = ["errors.ts", "lang", "key", "ledger", "stores"];

/** The files that may import a package as a value. Types cost nothing at run time. */
const OWNERS: Readonly<Record<string, RegExp>> = {
  "p-retry": /^src\/engine\/passes\.ts$/,
  uuid: /^src\/key\/mint\.ts$/,
  // The page of the console: bundled when the package is built, and no part of what is imported.
  preact: /^src\/console\/ui\//,
  "preact/hooks": /^src\/console\/ui\//,
  uplot: /^src\/console\/ui\/parts\/outcomes-chart\.tsx$/,
  "uplot/dist/uPlot.min.css": /^src\/console\/ui\/parts\/outcomes-chart\.tsx$/,
  esbuild: /^src\/console\/ui\/build\.ts$/,
  rolldown: /^src\/bundle\.ts$/,
};

/** Decisions by prose: what an error says to people is not what it proves. */
const PROSE = [
  /\.message\s*\??\.\s*\w+\(/, // error.message.includes("reset")
  /\.message\s*[!=]==?/, // error.message === "reset"
  /[!=]==?\s*[\w.?]+\.message\b/, // "reset" === error.message
  /\.(?:test|exec)\([^)\n]*\.message\b/, // /reset/.test(error.message)
  /\b(?:error|err|cause|reason|thrown)\??\.name\b/, // error.name === "AbortError"
];

const MAX_LINES = 250;
const VAGUE = /^(?:utils?|helpers?|types|constants|misc|common)\.ts$/;

interface Source {
  readonly path: string;
  readonly text: string;
  /** Without comments, in which examples may import what they like. */
  readonly code: string;
}

interface Import {
  readonly from: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

function read(path: string): Source {
  const text = readFileSync(path, "utf8");
  const code = text.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\//gm, "").replaceAll(/^[ \t]*\/\/.*$/gm, "");
  return { path, text, code };
}

function importsOf({ path, code }: Source): Import[] {
  const listed = code.matchAll(/^(?:import|export)\s+(type\s)?[^;"]*?from\s+"([^"]+)"/gm);
  const bare = code.matchAll(/^import\s+()"([^"]+)"/gm);
  const dynamic = code.matchAll(/\bimport\(\s*()"([^"]+)"/g);
  return [...listed, ...bare, ...dynamic].map(([, type, target = ""]) => ({
    from: path,
    target,
    typeOnly: Boolean(type),
  }));
}

const sources = globSync("src/**/*.{ts,tsx}").sort().map(read);
const all = [...sources, ...globSync("{test,bench,examples}/**/*.ts").sort().map(read)];
const imports = sources.flatMap(importsOf);

/** Our own imports, by the files they lead from and to. */
const edges = imports
  .filter(({ target }) => target.startsWith("."))
  .map(({ from, target }) => ({ from, to: join(dirname(from), target) }));

const layerOf = (path: string): string => path.split("/")[1] ?? "";
const said = ({ from, target }: Import): string => `${from} imports ${target}`;

/** Our own imports that break a rule on the layers they lead from and to. */
const between = (isWrong: (from: string, to: string) => boolean): string[] =>
  imports
    .filter(({ target }) => target.startsWith("."))
    .filter(({ from, target }) => isWrong(layerOf(from), layerOf(join(dirname(from), target))))
    .map(said);

const paths = (those: readonly Source[]): string[] => those.map(({ path }) => path);

test("there is something to look at", () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(imports.map(({ target }) => target)).toEqual(
    expect.arrayContaining(["p-retry", "uuid", "./json.ts", "../errors.ts"]),
  );
});

test("every file belongs to a known layer", () => {
  expect(paths(sources.filter(({ path }) => !LAYERS.includes(layerOf(path))))).toEqual([]);
});

test("imports point one way", () => {
  expect(between((from, to) => LAYERS.indexOf(to) > LAYERS.indexOf(from))).toEqual([]);
});

test("imports point one way inside the engine, too", () => {
  const partOf = (path: string) => path.split("/")[2] ?? "";
  const isEngine = (path: string) => layerOf(path) === "engine";
  const parts = sources.filter(({ path }) => isEngine(path)).map(({ path }) => partOf(path));
  expect(parts.filter((part) => !ENGINE.includes(part))).toEqual([]);
  const wrong = edges
    .filter(({ from, to }) => isEngine(from) && isEngine(to))
    .filter(({ from, to }) => ENGINE.indexOf(partOf(to)) > ENGINE.indexOf(partOf(from)));
  expect(wrong).toEqual([]);
});

test("no file imports itself by way of others, types included", () => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    if (way.includes(path)) cycles.push([...way.slice(way.indexOf(path)), path].join(" → "));
    if (done.has(path)) return;
    done.add(path);
    for (const { from, to } of edges) if (from === path) visit(to, [...way, path]);
  };
  for (const { path } of sources) visit(path, []);
  expect(cycles).toEqual([]);
});

test(`no folder has more than ${MAX_FILES} files`, () => {
  const folders = sources.map(({ path }) => dirname(path));
  const sizeOf = (folder: string) => folders.filter((each) => each === folder).length;
  expect([...new Set(folders)].filter((folder) => sizeOf(folder) > MAX_FILES)).toEqual([]);
});

test("stores and those who work on any store are strangers", () => {
  expect(between((from, to) => to === "stores" && !SEES_STORES.includes(from))).toEqual([]);
  expect(between((from, to) => from === "stores" && !STORES_SEE.includes(to))).toEqual([]);
});

test("the root entry is made of the engine and nothing around it", () => {
  const around = ["stores", "recipes", "integrations", "testing", "cli", "console"];
  expect(between((from, to) => from === "index.ts" && around.includes(to))).toEqual([]);
});

test("a package is imported only where it belongs", () => {
  const wrong = imports
    .filter(({ target, typeOnly }) => !typeOnly && !/^(?:\.|node:)/.test(target))
    .filter(({ from, target }) => !OWNERS[target]?.test(from));
  expect(wrong.map(said)).toEqual([]);
});

test(`no file is longer than ${MAX_LINES} lines`, () => {
  const lines = ({ text }: Source) => text.trimEnd().split("\n").length;
  const long = sources.filter((source) => lines(source) > MAX_LINES);
  expect(long.map((source) => `${source.path} has ${lines(source)} lines`)).toEqual([]);
});

test("every file opens by saying what it is for", () => {
  const header = /^(?:#!.*\n)?\/\*\*\n(?: \*.*\n)+? \* @module\n \*\/\n/;
  expect(paths(sources.filter(({ text }) => !header.test(text)))).toEqual([]);
});

test("nothing is decided by an error's message or name", () => {
  const lines = sources.flatMap(({ path, code }) =>
    code
      .split("\n")
      .filter((line) => PROSE.some((prose) => prose.test(line)))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(lines).toEqual([]);
});

test("there are no default exports and no vague file names", () => {
  const isDefault = /^export\s+default\b|\bas\s+default\b/m;
  // Vitest takes its configuration from a default export.
  const ours = all.filter(({ path }) => basename(path) !== "vitest.config.ts");
  expect(paths(ours.filter(({ code }) => isDefault.test(code)))).toEqual([]);
  expect(paths(all.filter(({ path }) => VAGUE.test(basename(path))))).toEqual([]);
});
