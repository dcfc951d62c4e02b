/**
 * The goals of speed, each a ratio within one run, and whether this run reached them.
 *
 * @module
 */

import {
  BATCHED,
  DBOS,
  GROUP_COMMIT,
  HOLDFIRE,
  NODE_IDEMPOTENCY,
  PER_CALL,
  POWERTOOLS,
  TWO_TRIPS,
} from "../call/cases.ts";
import {
  type Figures,
  type Measure,
  ratioOf,
  roundsOf,
  type Spread,
  spreadOf,
  spreadText,
} from "./figures.ts";
import type { Table } from "./rows.ts";

/** One series at one point: group, name, where. */
type Point = readonly [group: string, name: string, at: string];

export interface Goal {
  readonly what: string;
  readonly measure: Measure;
  readonly of: Point;
  /** Without it the figure itself is judged. */
  readonly over?: Point | undefined;
  readonly atLeast?: number | undefined;
  readonly atMost?: number | undefined;
}

export interface Judged {
  readonly goal: Goal;
  readonly figure: Spread | undefined;
  readonly verdict: "reached" | "not reached" | "not run";
}

const ONE = "1 caller";
const HUNDRED = "100 callers";
const own = (group: string, at: string): Point => [group, HOLDFIRE, at];

const faster = (what: string, of: Point, over: Point, atLeast: number): Goal => ({
  what,
  measure: "perSecond",
  of,
  over,
  atLeast,
});

/** The largest ledger that is measured, in the default run and with `--big`. */
export const growthGoals = (large: string): readonly Goal[] =>
  (
    [
      ["claim", 1.6],
      ["replay", 2],
      ["list by scope", 1.5],
      ["list by status", 1.5],
    ] as const
  ).map(([at, atMost]) => ({
    what: `Growth to ${large}: ${at}, p50 beside 10,000 rows`,
    measure: "p50Us",
    of: ["growth", large, at],
    over: ["growth", "10,000 rows", at],
    atMost,
  }));

const FIXED: readonly Goal[] = [
  ...[ONE, HUNDRED].flatMap((at) => [
    faster(
      `Memory, ${at}: beside AWS Powertools`,
      own("memory", at),
      ["memory", POWERTOOLS, at],
      1,
    ),
    faster(
      `Memory, ${at}: beside node-idempotency`,
      own("memory", at),
      ["memory", NODE_IDEMPOTENCY, at],
      1.3,
    ),
  ]),
  faster(
    "SQLite, 100 callers: of the group-commit floor",
    own("sqlite", HUNDRED),
    ["sqlite", GROUP_COMMIT, HUNDRED],
    0.75,
  ),
  {
    what: "SQLite, 1 caller: p50 beside the floor",
    measure: "p50Us",
    of: own("sqlite", ONE),
    over: ["sqlite", GROUP_COMMIT, ONE],
    atMost: 1.25,
  },
  faster(
    "SQLite, 100 callers: beside one commit per call",
    own("sqlite", HUNDRED),
    ["sqlite", PER_CALL, HUNDRED],
    20,
  ),
  faster(
    "SQLite, 100 callers: beside a DBOS step (not like for like)",
    own("sqlite", HUNDRED),
    ["postgres", DBOS, HUNDRED],
    100,
  ),
  faster(
    "SQLite, 1 caller: beside a DBOS step (not like for like)",
    own("sqlite", ONE),
    ["postgres", DBOS, ONE],
    8,
  ),
  {
    what: "SQLite, 100 callers: longest stall of the event loop, ms",
    measure: "loopMaxMs",
    of: ["loop", HOLDFIRE, "sqlite, 100 callers"],
    atMost: 20,
  },
  {
    what: "4 processes on one file: longest stall of an event loop, ms",
    measure: "loopMaxMs",
    of: ["processes", "holdfire, 4 processes", ""],
    atMost: 50,
  },
  ...[ONE, HUNDRED].map((at) =>
    faster(
      `Redis, ${at}: of two bare round trips`,
      own("redis", at),
      ["redis", TWO_TRIPS, at],
      0.85,
    ),
  ),
  {
    what: "Redis: round trips of a replay",
    measure: "tripsAgain",
    of: ["trips", HOLDFIRE, ""],
    atMost: 1,
  },
  faster(
    "Postgres, 100 callers: of the batched floor",
    own("postgres", HUNDRED),
    ["postgres", BATCHED, HUNDRED],
    0.75,
  ),
  faster(
    "Postgres, 100 callers: beside a DBOS step",
    own("postgres", HUNDRED),
    ["postgres", DBOS, HUNDRED],
    30,
  ),
  faster(
    "Postgres, 1 caller: beside a DBOS step",
    own("postgres", ONE),
    ["postgres", DBOS, ONE],
    3.5,
  ),
  {
    what: "Heap: second half of the calls beside the first",
    measure: "heapMb",
    of: ["heap", "second half", ""],
    over: ["heap", "first half", ""],
    atMost: 1.1,
  },
  { what: "Cold import of the root, ms", measure: "ms", of: ["import", HOLDFIRE, ""], atMost: 30 },
];

export const goalsFor = (large: string): readonly Goal[] => [...FIXED, ...growthGoals(large)];

export function judge(goal: Goal, figures: Figures): Judged {
  const { of, over, measure, atLeast = -Infinity, atMost = Infinity } = goal;
  const above = roundsOf(figures, ...of, measure);
  const figure = over ? ratioOf(above, roundsOf(figures, ...over, measure)) : spreadOf(above);
  if (!figure) return { goal, figure, verdict: "not run" };
  const isReached = figure.median >= atLeast && figure.median <= atMost;
  return { goal, figure, verdict: isReached ? "reached" : "not reached" };
}

export const goalsTable = (judged: readonly Judged[]): Table => ({
  head: ["", "goal", "measured", "verdict"],
  rows: judged.map(({ goal: { what, atLeast, atMost }, figure, verdict }) => [
    what,
    atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`,
    spreadText(figure),
    verdict,
  ]),
});
