/**
 * Writes `dist` but for its types: few files instead of hundreds, because most of the time that an import takes goes by
 * the number of files. Part of `npm run build`, and no part of what is imported.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import manifest from "../package.json" with { type: "json" };

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

const published: readonly string[] = [
  ...Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [] : [entry.default],
  ),
  ...Object.values(manifest.bin),
].map((path) => path.replace("./dist/", "").replace(/\.js$/, ""));

/** Modules that are found by their address. The last one is replaced by the built page. */
const addressed = ["chaos/preload", "cli/doctor/live/preload", "console/assets"];

await build({
  input: Object.fromEntries([...published, ...addressed].map((path) => [path, here(`${path}.ts`)])),
  external: [/^node:/, ...Object.keys(manifest.dependencies)],
  platform: "node",
  transform: { target: "node22" },
  output: {
    dir: here("../dist"),
    cleanDir: true,
    entryFileNames: "[name].js",
    chunkFileNames: "shared/[name].js",
    // What files have of each other goes by its name in the sources.
    minifyInternalExports: false,
    codeSplitting: {
      groups: [
        // What the preloads share with the root: a program that is watched does not load all of it.
        {
          name: "base",
          test: /[/\\]src[/\\](?:lang|wire|errors\.ts|key[/\\]canonical\.ts)/,
          priority: 2,
        },
        // All that the root imports is one file, whoever else imports some of it.
        { name: "core", test: /[/\\]src[/\\]index\.ts$/, priority: 1 },
      ],
    },
  },
});
