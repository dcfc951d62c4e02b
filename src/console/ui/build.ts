/**
 * Builds the page: one script and one style sheet. Run by itself, after tsc, it writes them into `dist` as a module.
 *
 * @module
 */

import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Assets } from "../assets.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export async function buildPage(): Promise<Assets> {
  const { outputFiles } = await build({
    entryPoints: { app: here("./app.tsx") },
    tsconfig: here("./tsconfig.json"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    banner: { js: await licences() },
    write: false,
    outdir: "out",
    logLevel: "silent",
  });
  const textOf = (ending: string) => outputFiles.find(({ path }) => path.endsWith(ending))?.text;
  return { "app.js": textOf(".js") ?? "", "app.css": textOf(".css") ?? "" };
}

/** What is bundled comes with its licence. */
async function licences(): Promise<string> {
  const texts = ["preact", "uplot"].map(async (name) => {
    const folder = new URL("./", import.meta.resolve(`${name}/package.json`));
    return `${name}\n\n${await readFile(new URL("LICENSE", folder), "utf8")}`;
  });
  return `/*!\n${(await Promise.all(texts)).join("\n").trim()}\n*/`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const assets = JSON.stringify(await buildPage());
  const module = `/** The built page. */\nexport const loadAssets = async () => (${assets});\n`;
  await writeFile(here("../../../dist/console/assets.js"), module);
}
