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
 * The first test that fails ends a mutant, so the file that has just found one comes first, as it may find its neighbour, and
 * then those that take the least time. Last come the histories, which a mutant that a plain test would have killed can make
 * endless, and those that start a cluster.
 */
class ShortestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const orderOf = (file: TestSpecification): number => {
      if (/\/test\/battery\/|redis-cluster/.test(file.moduleId)) return Infinity;
      const last = this.ctx.cache.getTestSpecificationResult(file);
      return last?.failed ? -1 : (last?.duration ?? 0);
    };
    const orders = new Map(files.map((file) => [file, orderOf(file)]));
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => compare(orders.get(a) ?? 0, orders.get(b) ?? 0));
  }
}

const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

const config: ViteUserConfig = mergeConfig(
  { ...whole, test: settings },
  defineConfig({
    root: fileURLToPath(new URL("../..", import.meta.url)),
    test: {
      // As in `quick`: they leave nothing behind in their process. Mutants that are run on loading are seen all the same.
      isolate: false,
      include: (env[TESTS_VARIABLE] ?? "").split(" "),
      exclude: [...LEFT_OUT],
      sequence: { sequencer: ShortestFirst },
    },
  }),
);

export default config;
