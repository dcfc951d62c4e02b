/**
 * How the tests run: `quick`, `whole` and `types` are `npm test`, `proof` is the long part. No retries:
 * a test that fails now and then has found something.
 *
 * @module
 */

import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { defineConfig, type TestProjectConfiguration, type ViteUserConfig } from "vitest/config";
import { isProof } from "./test/proof.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// Many tests start processes, and most of such a process's life is the compiling of the same sources.
env.NODE_COMPILE_CACHE ??= here("node_modules/.cache/compile");

/** Tests that start processes, servers or compilers, or that wait for real time. */
const WHOLE = [
  "test/battery/{interleavings,model-*}.test.ts",
  "test/bench/{battery-planted,storm-processes}.test.ts",
  "test/chaos/chaos.test.ts",
  "test/cli/{demo-picture,doctor-*,init,inbox,reconcile-command,run,terminal}.test.ts",
  "test/console/*.test.ts",
  "test/{crash,package,processes,syscalls}/**/*.test.ts",
  "test/{docs,examples,examples-of-pages,exports,reference}.test.ts",
  "test/{engine/detached,key/canonical,recipes/sql}.test.ts",
  "test/gate/{approval-crash,lanes-stores}.test.ts",
  "test/gateway/**/*.test.ts",
  "test/integrations/{command,durable,mcp}/*.test.ts",
  "test/integrations/{anthropic,openai}/record.test.ts",
  "test/ledger/{apply.properties,states-picture}.test.ts",
  "test/scenarios/{enlist,forgetful-redis,real-time,store-loss,store-loss-living,store-loss-promoted,try-again-stores}.test.ts",
  "test/stores/{postgres,redis,sqlite}*{.test.ts,/**/*.test.ts}",
  "test/testing/{adapter-contract,runner}.test.ts",
];

/** Tests that are in the proof alone. */
const PROOF = [
  "test/battery/model-{2,3,4}.test.ts",
  "test/battery/planted/planted.test.ts",
  "test/chaos/agents.test.ts",
  "test/console/browser/*.test.ts",
  "test/faults/store-chaos.test.ts",
  "test/gateway/conformance/*.test.ts",
  "test/gateway/{processes,storm}.test.ts",
  "test/integrations/mcp/conformance.test.ts",
  "test/processes/reconcile-storm.test.ts",
];

/** Tests that take their counts from `test/proof.ts`: small in `npm test`, in full in the proof. */
const SIZED = [
  "test/battery/{interleavings,model-1}.test.ts",
  "test/{crash,processes,syscalls}/**/*.test.ts",
  "test/gateway/hostile.test.ts",
];

/** The type tests. All other files are the business of `npm run typecheck`. */
const types: TestProjectConfiguration = {
  extends: true,
  test: {
    name: "types",
    include: [],
    typecheck: {
      enabled: true,
      only: true,
      include: ["test/**/*.test-d.ts"],
      ignoreSourceErrors: true,
      tsconfig: "test/tsconfig.types.json",
    },
  },
};

const project = (
  name: string,
  files: { include: string[]; exclude?: string[]; isolate?: boolean },
): TestProjectConfiguration => ({ extends: true, test: { name, ...files } });

const projects: TestProjectConfiguration[] = isProof
  ? [project("proof", { include: [...PROOF, ...SIZED] })]
  : [
      // They leave nothing behind in their process, and so need not have one each.
      project("quick", {
        include: ["test/**/*.test.ts"],
        exclude: [...WHOLE, ...PROOF],
        isolate: false,
      }),
      project("whole", { include: WHOLE, exclude: PROOF }),
      types,
    ];

const config: ViteUserConfig = defineConfig({
  resolve: {
    // What the docs import, straight from the sources. Exact, so that the root catches no subpath.
    alias: [
      { find: /^holdfire$/, replacement: here("src/index.ts") },
      { find: /^holdfire\/memory$/, replacement: here("src/stores/memory.ts") },
    ],
  },
  test: {
    projects,
    // Twice the cores of a small machine: half of their time the tests wait for a process, a server or a pause.
    maxWorkers: isProof ? 2 : 4,
    // Generous: a slow machine must not turn into a failed test. What hangs still ends.
    testTimeout: 30_000,
    hookTimeout: 30_000,
    retry: 0,
    // The contract suites take the global describe and test where none are passed.
    globals: true,
  },
});

export default config;
