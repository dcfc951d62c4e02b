/**
 * Everything that holdfire costs, side by side with what people use instead: `npm run bench`. With
 * `--help` it lists the groups and options.
 *
 * Every figure is a median of rounds in turns, every comparison a ratio within this run. Exits with 1 when
 * a function guarded by holdfire ran twice, or not at all.
 *
 * @module
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { styleText } from "node:util";
import { HOLDFIRE } from "./call/cases.ts";
import { readCommandLine } from "./command-line.ts";
import { report } from "./progress.ts";
import { calls } from "./suite/calls.ts";
import { chartOf, drawChart } from "./suite/chart.ts";
import { type Figures, merged } from "./suite/figures.ts";
import { gateway } from "./suite/gateway.ts";
import { goalsFor, goalsTable, type Judged, judge } from "./suite/goals.ts";
import { groupOf } from "./suite/groups.ts";
import { growth, mostRows, rowsText } from "./suite/growth.ts";
import { heap } from "./suite/heap.ts";
import { imports } from "./suite/imports.ts";
import { keys } from "./suite/keys.ts";
import { doubts, type Machine, machineText, thisMachine } from "./suite/machine.ts";
import { optionsFrom, type SuiteOptions, USAGE } from "./suite/options.ts";
import { writePage } from "./suite/page.ts";
import type { Part } from "./suite/part.ts";
import { processes } from "./suite/processes.ts";
import { tableOf, textOf } from "./suite/rows.ts";
import { sizing } from "./suite/sizing.ts";
import { trips } from "./suite/trips.ts";
import { wire } from "./suite/wire.ts";

const PARTS: readonly Part[] = [
  calls,
  trips,
  processes,
  growth,
  heap,
  keys,
  imports,
  wire,
  gateway,
  sizing,
];

async function measureAll(options: SuiteOptions): Promise<Figures> {
  const all: Figures[] = [];
  for (const part of PARTS) {
    const wanted = part.groups.filter((name) => options.groups.includes(name));
    if (wanted.length === 0) continue;
    try {
      all.push(await part.measure(wanted, options, report));
    } catch (error) {
      // Minutes of other figures are not lost for it: its groups say why they have none.
      const why = error instanceof Error ? error.message : String(error);
      process.stderr.write(`left out: ${wanted.join(", ")}: ${why}\n`);
      all.push({ series: [], notRun: wanted.map((group) => ({ group, name: "all", why })) });
    }
  }
  report("", false);
  return merged(all);
}

interface Made {
  readonly machine: Machine;
  readonly options: SuiteOptions;
  readonly figures: Figures;
}

/** What an earlier run has printed, or a new run. */
async function made(options: SuiteOptions): Promise<Made> {
  if (options.from !== undefined) return JSON.parse(readFileSync(options.from, "utf8")) as Made;
  return { machine: thisMachine(new Date()), options, figures: await measureAll(options) };
}

function print({ machine, options, figures }: Made, judged: readonly Judged[]): void {
  const bold = (text: string): string => (process.stdout.isTTY ? styleText("bold", text) : text);
  for (const name of options.groups) {
    const group = groupOf(name);
    if (group) console.log(`${bold(group.title)}\n${textOf(tableOf(group, figures))}\n`);
  }
  const known = judged.filter(({ verdict }) => verdict !== "not run");
  if (known.length > 0) console.log(`${bold("Goals")}\n${textOf(goalsTable(known))}\n`);
  console.log(machineText(machine));
  for (const doubt of doubts(machine, options.quick)) console.log(doubt);
}

async function run(options: SuiteOptions): Promise<boolean> {
  const one = await made(options);
  const { figures } = one;
  const judged = goalsFor(rowsText(mostRows(one.options))).map((goal) => judge(goal, figures));
  if (options.json) console.log(JSON.stringify({ ...one, goals: judged }));
  else print(one, judged);
  if (options.charts !== undefined) {
    mkdirSync(options.charts, { recursive: true });
    for (const name of one.options.groups) {
      const group = groupOf(name);
      const chart = group && chartOf(group, figures);
      if (chart) writeFileSync(join(options.charts, `bench-${name}.svg`), drawChart(chart));
    }
  }
  if (options.writeDocs) writePage({ ...one, judged });
  return !figures.series.some(({ name, fault }) => name.startsWith(HOLDFIRE) && fault);
}

if (!(await run(readCommandLine(USAGE, optionsFrom)))) process.exitCode = 1;
