/** What is public: every entry imports, the root one drags nothing in, and every name is explained. */
import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import manifest from "../package.json" with { type: "json" };

interface Entry {
  readonly types: string;
  readonly default: string;
}

const entries = Object.entries(manifest.exports).filter(
  (entry): entry is [string, Entry] => typeof entry[1] !== "string",
);
const sourceOf = (built: string): string =>
  built.replace(/^\.\/dist\//, "src/").replace(/\.js$/, ".ts");

describe.each(entries)("the entry %s", (_, entry) => {
  test("has types beside its code, and types come first", () => {
    expect(Object.keys(entry)).toEqual(["types", "default"]);
    expect(entry.types).toBe(entry.default.replace(/\.js$/, ".d.ts"));
  });

  test("is made from a source that imports", async () => {
    const source = sourceOf(entry.default);
    const names = Object.keys(await import(pathToFileURL(source).href));
    expect(names).not.toContain("default");
    expect(names.length).toBeGreaterThan(0);
  });
});

/** Imports a file in a fresh process and tells which modules that process resolved. */
function loadedBy(path: string): string[] {
  const code = `
    import { registerHooks } from "node:module";
    const urls = new Set();
    registerHooks({
      resolve(specifier, context, next) {
        const resolved = next(specifier, context);
        urls.add(resolved.url);
        return resolved;
      },
    });
    await import(${JSON.stringify(pathToFileURL(path).href)});
    // What was loaded behind the hooks' back, by the runtime itself.
    for (const name of process.moduleLoadList) {
      if (name === "NativeModule sqlite" || name === "Internal Binding sqlite") urls.add("node:sqlite");
    }
    console.log(JSON.stringify([...urls]));`;
  const args = ["--input-type=module", "--eval", code];
  const loaded: string[] = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  const root = pathToFileURL(`${process.cwd()}/`).href;
  return loaded.map((url) => url.replace(root, ""));
}

test("the root entry loads no store, no SDK and no database", () => {
  const loaded = loadedBy("src/index.ts");
  const allowed =
    /^(?:src\/(?:[\w-]+\.ts|(?:lang|key|ledger|classify|wire|observe|engine|gate|reconcile|http-tool|integrations\/fetch)\/)|node_modules\/(?:p-retry|is-network-error|uuid)\/|node:)/;
  expect(loaded).toContain("src/create.ts");
  expect(loaded.filter((url) => !allowed.test(url))).toEqual([]);
  expect(loaded).not.toContain("node:sqlite");
});

test("the look at what is loaded sees what it is meant to see", () => {
  expect(loadedBy("src/stores/memory.ts")).toContain("src/stores/memory.ts");
});

test("the root entry has few names, and none that only authors of stores need", () => {
  const root = publicNames("src/index.ts").map(({ name }) => name);
  const store = publicNames("src/store.ts").map(({ name }) => name);
  expect(new Set(root).size).toBeGreaterThan(40);
  expect(new Set(root).size).toBeLessThanOrEqual(70);
  expect(root.filter((name) => store.includes(name))).toEqual([]);
});

test("every public name is explained, in its own comment or in the docs", () => {
  const pages = ["README.md", ...globSync("docs/*.md")].map((page) => readFileSync(page, "utf8"));
  const inDocs = (name: string) => pages.some((page) => new RegExp(`\\b${name}\\b`).test(page));
  const names = entries.flatMap(([, entry]) => publicNames(sourceOf(entry.default)));
  // An overloaded function has one comment, at the first of its declarations.
  const explained = new Set(names.filter(({ comment }) => comment).map(({ name }) => name));
  const unexplained = names
    .filter(({ name }) => !explained.has(name) && !inDocs(name))
    .map(({ name, path }) => `${name} in ${path}`);
  expect(names.length).toBeGreaterThan(50);
  expect(unexplained).toEqual([]);
});

interface PublicName {
  readonly name: string;
  /** Where it is declared. */
  readonly path: string;
  /** A doc comment stands right before it, or inside it at its members. */
  readonly comment: boolean;
}

const DECLARATION =
  /^export (?:abstract )?(?:async )?(?:const|function|class|interface|type) (\w+)[\s\S]*?(?=^\S.*\n|(?![\s\S]))/gm;

function publicNames(path: string): PublicName[] {
  const text = readFileSync(path, "utf8");
  const declared = [...text.matchAll(DECLARATION)].map(({ 0: body, 1: name = "", index }) => ({
    name,
    path,
    comment: text.slice(0, index).endsWith("*/\n") || body.includes("/**"),
  }));
  const passedOn = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from "([^"]+)"/gm)].flatMap(
    ([, names = "", target = ""]) => {
      const wanted = names.split(",").map((name) => name.trim().replace(/^type /, ""));
      return publicNames(join(dirname(path), target)).filter(({ name }) => wanted.includes(name));
    },
  );
  return [...declared, ...passedOn];
}
