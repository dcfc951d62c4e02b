/**
 * The tests that judge a mutant: those of its room (`rooms.ts`), in this process. A store on a server needs that server.
 *
 * They come by an environment variable and not by Stryker's `testFiles`: with that option Stryker 10.1 never turns a
 * mutant on that is run when its file is loaded, and tells it as survived.
 *
 * @module
 */

import { env } from "node:process";
import { fileURLToPath } from "node:url";
import { defineConfig, mergeConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import whole from "../../vitest.config.ts";
import { LEFT_OUT, TESTS_VARIABLE } from "./rooms.ts";

const { projects: _, ...settings } = whole.test ?? {};

/**
 * The first test that fails ends a mutant, so those that take longest come last: the histories, which a mutant that a
 * plain test would have killed can make endless, and those that start a cluster.
 */
class LongestLast extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/test\/battery\/|redis-cluster/.test(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter((file) => !isLong(file)), ...sorted.filter(isLong)];
  }
}

const config: ViteUserConfig = mergeConfig(
  { ...whole, test: settings },
  defineConfig({
    root: fileURLToPath(new URL("../..", import.meta.url)),
    test: {
      // As in `quick`: they leave nothing behind in their process. Mutants that are run on loading are seen all the same.
      isolate: false,
      include: (env[TESTS_VARIABLE] ?? "").split(" "),
      exclude: [...LEFT_OUT],
      sequence: { sequencer: LongestLast },
    },
  }),
);

export default config;
