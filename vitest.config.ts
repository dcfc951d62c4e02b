/**
 * How the tests run. No retries: a test that fails now and then has found something.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(`src/${path}`, import.meta.url));

const config: ViteUserConfig = defineConfig({
  resolve: {
    // What the docs import, straight from the sources. Exact, so that the root catches no subpath.
    alias: [
      { find: /^holdfire$/, replacement: source("index.ts") },
      { find: /^holdfire\/memory$/, replacement: source("stores/memory.ts") },
    ],
  },
  test: {
    include: ["test/**/*.test.ts"],
    maxWorkers: 2,
    // Generous: a slow machine must not turn into a failed test. What hangs still ends.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    // The contract suites take the global describe and test where none are passed.
    globals: true,
    typecheck: {
      // Switched on by `npm test`; one file at a time should not wait for the compiler.
      enabled: false,
      include: ["test/**/*.test-d.ts"],
      // All other files are the business of `npm run typecheck`.
      ignoreSourceErrors: true,
    },
  },
});

export default config;
