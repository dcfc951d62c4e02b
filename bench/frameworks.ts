/**
 * The frameworks: how often one request of a person takes effect when an agent framework runs its tools again, with
 * holdfire and without. Ends with 1 if it was not once, or not twice where a person asked twice.
 *
 * `npm run frameworks -- --help` lists the options.
 *
 * The programs are those of `examples/`, which `holdfire init` writes too; what only a cell needs (an approval, a
 * checkpoint, a workflow) is made here.
 *
 * The tool's service knows no keys and cannot be asked, so nothing but the ledger stands between a repeated call and
 * a second effect.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { readCommandLine } from "./command-line.ts";
import { ai } from "./frameworks/ai.ts";
import { runApps } from "./frameworks/apps.ts";
import { COLUMNS, type Column, type Framework } from "./frameworks/columns.ts";
import { langchain, langgraph } from "./frameworks/langchain.ts";
import { handWritten, runTools, toolRunner } from "./frameworks/loops.ts";
import { mastra, mastraWorkflow } from "./frameworks/mastra.ts";
import { mcp } from "./frameworks/mcp.ts";
import { openaiAgents } from "./frameworks/openai-agents.ts";
import {
  type Counted,
  printLegend,
  printReasons,
  printTable,
  printVerdict,
} from "./frameworks/print.ts";
import { countEffects } from "./frameworks/stage.ts";

const FRAMEWORKS: readonly Framework[] = [
  ai,
  langchain,
  langgraph,
  openaiAgents,
  mastra,
  mastraWorkflow,
  runTools,
  toolRunner,
  handWritten,
  mcp,
];

// Some frameworks log each failure, and the failures here are meant.
console.error = () => {};
console.warn = () => {};

const USAGE = `npm run frameworks -- [options]

  --json    the cells, as JSON
  --apps    in place of the cells: the small apps, and the table of docs/frameworks.md
  --write   with --apps: writes that table`;

const flag = { type: "boolean", default: false } as const;
const { values } = readCommandLine(USAGE, (args) =>
  parseArgs({ args, options: { json: flag, apps: flag, write: flag } }),
);
if (values.apps) process.exit((await runApps({ write: values.write })) ? 0 : 1);

const counted: Counted[] = [];
for (const framework of FRAMEWORKS) {
  for (const column of COLUMNS) counted.push(await count(framework, column));
  process.stderr.write(`${framework.name}\n`);
}
const isOk = counted.every(({ ok }) => ok);

if (values.json) {
  process.stdout.write(`${JSON.stringify({ ok: isOk, cells: counted }, undefined, 2)}\n`);
} else {
  printTable(counted);
  printLegend();
  printReasons(counted);
  printVerdict(counted);
}
// Runs that were left in the middle would keep the process alive.
process.exit(isOk ? 0 : 1);

async function count(framework: Framework, { name, expected, play }: Column): Promise<Counted> {
  const about = { framework: framework.name, column: name, expected };
  const played = play(framework);
  if ("none" in played) return { ...about, none: played.none, ok: true };
  try {
    const without = await countEffects(played, false);
    const guarded = await countEffects(played, true);
    return { ...about, without, with: guarded, ok: guarded === expected };
  } catch (error) {
    return { ...about, error: String(error), ok: false };
  }
}
