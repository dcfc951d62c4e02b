/**
 * One slice through Stryker: what became of each mutant, counted per source file; or of those that were drawn.
 *
 * @module
 */

import { relative } from "node:path";
import { cwd, env, pid } from "node:process";
import { Stryker } from "@stryker-mutator/core";
import { type Draw, PLUGIN, REPORTER, withDraw } from "./drawn-plan.ts";
import { HISTORIES, type Slice, TESTS_VARIABLE, testsOf } from "./rooms.ts";
import { hashOfAll, type Sample, sampleOf } from "./sample.ts";
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
  slice: Slice,
  measuring: Measuring,
): Promise<Readonly<Record<string, Score>>> {
  const { files } = slice;
  // Before it starts: a source that is edited meanwhile has no score yet.
  const hashes = files.map(hashOf);
  const mutants = await new Stryker(optionsFor(slice, measuring)).runMutationTest();
  return Object.fromEntries(
    files.map((file, at) => {
      const own = mutants.filter(({ fileName }) => fileName.endsWith(`/${file}`));
      return [file, scoreOf(hashes[at] ?? "", own, nameOf)];
    }),
  );
}

/**
 * Drawn mutants of a slice, which may be as long as it likes: that is one run of its tests, and then only what was drawn.
 * `onAlive` is told at once of each that lives.
 */
export async function measureSample(
  slice: Slice,
  measuring: Measuring,
  { onAlive, ...wanted }: Omit<Draw, "onJudged"> & { readonly onAlive: (name: string) => void },
): Promise<Sample> {
  const hash = hashOfAll(slice.files);
  const placeOf = (mutant: Mutant): string =>
    `${relative(cwd(), mutant.fileName)}:${nameOf(mutant)}`;
  const onJudged = (mutant: Mutant) => mutant.status in ALIVE && onAlive(placeOf(mutant));
  const { result: mutants, population } = await withDraw({ ...wanted, onJudged }, () =>
    new Stryker(optionsFor(slice, measuring)).runMutationTest(),
  );
  const drawn = Math.min(wanted.count, population);
  if (mutants.length !== drawn)
    throw new Error(`Of ${drawn} drawn mutants, Stryker has measured ${mutants.length}.`);
  const { seed } = wanted;
  return sampleOf(scoreOf(hash, mutants, placeOf), { seed, drawn, of: population });
}

function optionsFor({ room, files }: Slice, { workers, isShown }: Measuring): Options {
  env[TESTS_VARIABLE] = testsOf(room, files[0] ?? "").join(" ");
  env.RUNS ??= HISTORIES;
  return {
    mutate: [...files],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner", PLUGIN],
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
    // Ours first: the progress is that of the drawn ones.
    reporters: [REPORTER, ...(isShown ? ["progress-append-only"] : [])],
    logLevel: "error" as NonNullable<Options["logLevel"]>,
    allowConsoleColors: false,
  };
}

function scoreOf(
  hash: string,
  mutants: readonly Mutant[],
  named: (mutant: Mutant) => string,
): Score {
  const count = (...statuses: readonly string[]): number =>
    mutants.filter((mutant) => statuses.includes(statusOf(mutant))).length;
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
        return how === undefined ? [] : [[named(mutant), how]];
      }),
    ),
  };
}

/** A test that ran out of its own time has killed it as well, perhaps because the machine was busy: it is told apart. */
const statusOf = ({ status, statusReason = "" }: Mutant): string =>
  status === "Killed" && /\btimed out in \d+ms/.test(statusReason) ? "Timeout" : status;

const ALIVE: Readonly<Record<string, "survived" | "no_coverage">> = {
  Survived: "survived",
  NoCoverage: "no_coverage",
};

const nameOf = ({ location, mutatorName, replacement = "" }: Mutant): string => {
  const text = replacement.replaceAll(/\s+/g, " ").slice(0, 200);
  return `${location.start.line}:${location.start.column} ${mutatorName} ${text}`;
};
