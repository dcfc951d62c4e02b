/**
 * Writes a run into `docs/performance.md`: what stands there between `<!-- bench: NAME -->` and
 * `<!-- /bench -->` is made here, the rest is written by hand.
 *
 * @module
 */

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { drawOutage } from "../outage/draw.ts";
import { POLICIES } from "../outage/policies.ts";
import { SCENARIO, simulate } from "../outage/simulate.ts";
import { outageTable, summarize } from "../outage/summary.ts";
import { chartOf, drawChart } from "./chart.ts";
import type { Figures } from "./figures.ts";
import { goalsTable, type Judged } from "./goals.ts";
import { GROUPS, type Group } from "./groups.ts";
import { doubts, type Machine, machineText } from "./machine.ts";
import type { SuiteOptions } from "./options.ts";
import { planTable } from "./plan.ts";
import { markdownOf, tableOf } from "./rows.ts";

const PAGE = fileURLToPath(new URL("../../docs/performance.md", import.meta.url));
const IMAGES = new URL("../../docs/images/", import.meta.url);
const LINE = 140;

export interface Run {
  readonly machine: Machine;
  readonly options: SuiteOptions;
  readonly figures: Figures;
  readonly judged: readonly Judged[];
}

export function writePage(run: Run): void {
  const { figures, judged } = run;
  const runs = POLICIES.map((policy) => simulate(SCENARIO, policy));
  const blocks = new Map<string, string>([
    ["run", runText(run)],
    ["goals", markdownOf(goalsTable(judged))],
    ["plan", markdownOf(planTable(figures))],
    ["outage", markdownOf(outageTable(runs.map((one) => summarize(SCENARIO, one))))],
  ]);
  for (const group of GROUPS) blocks.set(group.name, blockOf(group, figures));
  writeFileSync(PAGE, filled(readFileSync(PAGE, "utf8"), blocks));
  writeFileSync(new URL("bench-outage.svg", IMAGES), drawOutage(SCENARIO, runs));
}

function runText({ machine, options: { rounds, ms, quick }, judged }: Run): string {
  const count = (verdict: Judged["verdict"]): number =>
    judged.filter((one) => one.verdict === verdict).length;
  const missing = count("not run") === 0 ? "" : `, ${count("not run")} not run`;
  const reached = `${count("reached")} of ${judged.length} goals reached${missing}`;
  return wrapped(
    `${machineText(machine)}; ${rounds} rounds in turns, ${ms} ms for each case in each round: ${[`${reached}.`, ...doubts(machine, quick)].join(" ")}`,
  );
}

/** The table, the chart and the words of a group. The chart is written beside the page. */
function blockOf(group: Group, figures: Figures): string {
  const chart = chartOf(group, figures);
  const file = `bench-${group.name}.svg`;
  if (chart) writeFileSync(new URL(file, IMAGES), drawChart(chart));
  const picture = chart ? [`![${group.title}](images/${file})`] : [];
  const faults = figures.series.filter((one) => one.group === group.name && one.fault);
  const wrong = faults.map(({ name, at, fault }) => `**${name}, ${at}: ${fault}.**`);
  return [wrapped(group.about), ...picture, markdownOf(tableOf(group, figures)), ...wrong].join(
    "\n\n",
  );
}

/** The page with each block filled anew. A block that the page has and the run has not stays as it is. */
export function filled(page: string, blocks: ReadonlyMap<string, string>): string {
  const parts = page.split(/^<!-- (bench: [\w-]+|\/bench) -->$/m);
  let name: string | undefined;
  const found = new Set<string>();
  const text = parts.map((part, index) => {
    if (index % 2 === 1) {
      name = part.startsWith("bench: ") ? part.slice("bench: ".length) : undefined;
      if (name !== undefined) found.add(name);
      return `<!-- ${part} -->`;
    }
    const block = name === undefined ? undefined : blocks.get(name);
    return block === undefined ? part : `\n\n${block}\n\n`;
  });
  const lost = [...blocks.keys()].filter((block) => !found.has(block));
  if (lost.length > 0) throw new Error(`docs/performance.md has no place for: ${lost.join(", ")}.`);
  return text.join("");
}

function wrapped(text: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > LINE) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}
