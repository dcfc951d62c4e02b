/**
 * What is mutated, which tests judge it, and which share of the mutants they have to kill.
 *
 * @module
 */

import { globSync, readFileSync } from "node:fs";
import { dirname, relative } from "node:path";

/** Hands the tests of a room on to `vitest.config.ts`, through Stryker's processes. */
export const TESTS_VARIABLE = "HOLDFIRE_MUTATION_TESTS";

export interface Room {
  /** Its folder in `src`. */
  readonly name: string;
  /** The share of mutants, in percent, that has to be killed. */
  readonly goal: number;
  /** Patterns of test files. */
  readonly tests: readonly string[];
  /** Folders in it that have tests of their own, in place of the room's: no mutant waits for those of another store. */
  readonly folders?: Readonly<Record<string, readonly string[]>>;
}

/** Random histories in a simulated world, and the checker: a second of them sees most of what an engine can do wrong. */
const MODEL = ["test/battery/{found,model-1}.test.ts"];

/** How many histories a mutant is shown. */
export const HISTORIES = "200";

export const ROOMS: readonly Room[] = [
  { name: "key", goal: 90, tests: ["test/key/*.test.ts"] },
  { name: "classify", goal: 90, tests: ["test/classify/*.test.ts"] },
  {
    name: "ledger",
    goal: 90,
    tests: ["test/ledger/**/*.test.ts", "test/stores/memory.test.ts", ...MODEL],
  },
  { name: "gate", goal: 90, tests: ["test/gate/*.test.ts"] },
  {
    name: "engine",
    goal: 90,
    tests: [
      "test/{engine,scenarios,gate,http-tool,observe,reconcile}/*.test.ts",
      "test/create.test.ts",
      ...MODEL,
    ],
  },
  {
    name: "stores",
    goal: 80,
    tests: ["test/stores/{memory,default,sqlite-place}.test.ts"],
    folders: {
      sqlite: ["test/stores/sqlite*.test.ts"],
      redis: ["test/stores/redis*.test.ts"],
      postgres: ["test/stores/postgres*.test.ts"],
    },
  },
];

/** The tests that judge a source file of a room. */
export const testsOf = ({ name, tests, folders }: Room, file: string): readonly string[] =>
  folders?.[relative(`src/${name}`, dirname(file))] ?? tests;

/** Tests that start processes or need a server that is not their store's, and those that take long. No mutant waits for them. */
export const LEFT_OUT: readonly string[] = [
  "test/engine/{decide.properties,detached}.test.ts",
  "test/gate/{approval-crash,lanes-stores,lanes-storm,wait-for-answer}.test.ts",
  "test/ledger/{apply.properties,states-picture}.test.ts",
  "test/scenarios/{enlist,forgetful-redis,one-default-ledger,other-ways-out,real-time,redirects}.test.ts",
  "test/scenarios/{store-loss*,tenants-apart,told-errors,tools-of-one-name,try-again-stores}.test.ts",
  "test/scenarios/{another-address,damaged-record,drift-report,large-answers,recorded-answers*}.test.ts",
  "test/scenarios/{retry-budget,reworded-call,witness-marks}.test.ts",
  "test/stores/{redis-race,sqlite-processes,sqlite-size}.test.ts",
];

/** Mutated in one go at most: a slice takes minutes, and what it found is kept before the next one begins. */
const LINES_OF_A_SLICE = 250;

export interface Slice {
  readonly room: Room;
  readonly files: readonly string[];
}

/** The sources of a room, in the order of their paths. */
export const filesOf = ({ name }: Room): readonly string[] =>
  globSync(`src/${name}/**/*.ts`).toSorted();

/** The files that `isWanted` picks, cut into slices: each has files of one folder. */
export function slicesOf(room: Room, isWanted: (file: string) => boolean): readonly Slice[] {
  const slices: string[][] = [];
  let linesLeft = 0;
  for (const file of filesOf(room).filter(isWanted)) {
    const lines = readFileSync(file, "utf8").split("\n").length;
    const last = slices.at(-1);
    const isSame = last?.[0] !== undefined && dirname(last[0]) === dirname(file);
    if (last && isSame && lines <= linesLeft) last.push(file);
    else {
      slices.push([file]);
      linesLeft = LINES_OF_A_SLICE;
    }
    linesLeft -= lines;
  }
  return slices.map((files) => ({ room, files }));
}

/** Files that the same tests judge, as many as there are, and the paths that name them. */
export interface Whole extends Slice {
  readonly name: string;
}

/** What `paths` name of a room; all of it without one. A folder that has tests of its own is apart. */
export function wholesOf(room: Room, paths: readonly string[]): readonly Whole[] {
  const apart = Object.keys(room.folders ?? {}).map((name) => `src/${room.name}/${name}`);
  return [`src/${room.name}`, ...apart].flatMap((folder) => {
    const isAll = paths.length === 0 || paths.some((path) => isIn(folder, path));
    const parts = isAll ? [folder] : paths.filter((path) => isIn(path, folder));
    const files = filesOf(room).filter(
      (file) =>
        parts.some((part) => isIn(file, part)) &&
        (apart.includes(folder) || !apart.some((other) => isIn(file, other))),
    );
    return files.length === 0 ? [] : [{ room, files, name: parts.join(" ") }];
  });
}

/** Whether a path is another one, or in it. */
export const isIn = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(`${folder}/`);
