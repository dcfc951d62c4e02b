/**
 * What registers the tests of a contract: the `describe` and `test` of vitest, Jest or node:test.
 *
 * They are passed in or global, so `holdfire/testing` imports no test runner.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";

/** The two functions of a test runner that the contracts use. */
export interface TestRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly test: (name: string, body: (...given: [TestContext?]) => Promise<void>) => unknown;
}

/** What vitest and node:test give to a test. Jest gives nothing. */
export interface TestContext {
  skip(why?: string): unknown;
}

export function runnerOf(given: TestRunner | undefined): TestRunner {
  const { describe, test } = given ?? (globalThis as Partial<TestRunner>);
  if (typeof describe === "function" && typeof test === "function") return { describe, test };
  throw new InvalidInputError(
    "runner",
    "is missing, and there is no global describe and test. Pass { describe, test } of your test runner.",
  );
}
