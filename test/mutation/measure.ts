/**
 * One slice through Stryker: what became of each mutant, counted per source file.
 *
 * @module
 */

import { env, pid } from "node:process";
import { Stryker } from "@stryker-mutator/core";
import { HISTORIES, type Slice, TESTS_VARIABLE, testsOf } from "./rooms.ts";
import { hashOf, type Score } from "./scores.ts";

type Options = ConstructorParameters<typeof Stryker>[0];
type Mutant = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

export interface Measuring {
  readonly workers: number;
  /** Whether Stryker shows its progress on stdout. */
  readonly isShown: boolean;
}

/** The scores of the files of a slice. Throws where the tests fail without a mutant. */
export async function measure(
  { room, files }: Slice,
  { workers, isShown }: Measuring,
): Promise<Readonly<Record<string, Score>>> {
  env[TESTS_VARIABLE] = testsOf(room, files[0] ?? "").join(" ");
  env.RUNS ??= HISTORIES;
  // Before it starts: a source that is edited meanwhile has no score yet.
  const hashes = files.map(hashOf);
  const options: Options = {
    mutate: [...files],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "test/mutation/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    concurrency: workers,
    // On a busy machine a slow run must not pass for an endless one, which would count as killed.
    timeoutMS: 20_000,
    // A text is what people read, and no decision; those that decide (states, reasons) are checked by the compiler.
    mutator: { excludedMutations: ["StringLiteral"] },
    // TypeScript 7 has no API in JavaScript, with which Stryker would read it.
    tsconfigFile: "none",
    tempDirName: `coverage/mutation-${pid}`,
    ignorePatterns: ["/bench", "/coverage", "/dist"],
    reporters: isShown ? ["progress-append-only"] : [],
    logLevel: "error" as NonNullable<Options["logLevel"]>,
    allowConsoleColors: false,
  };
  const mutants = await new Stryker(options).runMutationTest();
  return Object.fromEntries(
    files.map((file, at) => {
      const own = mutants.filter(({ fileName }) => fileName.endsWith(`/${file}`));
      return [file, scoreOf(hashes[at] ?? "", own)];
    }),
  );
}

function scoreOf(hash: string, mutants: readonly Mutant[]): Score {
  const count = (...statuses: readonly string[]): number =>
    mutants.filter(({ status }) => statuses.includes(status)).length;
  return {
    hash,
    killed: count("Killed"),
    timeout: count("Timeout"),
    survived: count("Survived"),
    noCoverage: count("NoCoverage"),
    ignored: count("Ignored"),
    // They say nothing about the tests, and Stryker counts them neither way.
    errors: count("RuntimeError", "CompileError"),
    alive: Object.fromEntries(
      mutants.flatMap((mutant) => {
        const how = ALIVE[mutant.status];
        return how === undefined ? [] : [[nameOf(mutant), how]];
      }),
    ),
  };
}

const ALIVE: Readonly<Record<string, "survived" | "no_coverage">> = {
  Survived: "survived",
  NoCoverage: "no_coverage",
};

const nameOf = ({ location, mutatorName, replacement = "" }: Mutant): string => {
  const text = replacement.replaceAll(/\s+/g, " ").slice(0, 200);
  return `${location.start.line}:${location.start.column} ${mutatorName} ${text}`;
};
