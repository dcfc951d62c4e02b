/**
 * The storm of processes: twelve processes on one ledger are asked for the same ten thousand things while replies are
 * lost and one process after the other is killed. It is done on each store, and judged by the service's own logs, what
 * the callers were told and what the ledger says in the end.
 *
 * `npm run storm:processes -- --help` lists the options. Ends with 1 unless each thing was done once, nothing untrue was
 * told, and at most 1.35 requests arrived for each effect.
 *
 * @module
 */

import { openGround } from "./battery/run/ground.ts";
import { loadStack } from "./battery/stacks.ts";
import { readCommandLine } from "./command-line.ts";
import { report } from "./progress.ts";
import { stormOptionsFrom, USAGE } from "./storm-processes/options.ts";
import { printStorm } from "./storm-processes/print.ts";
import { runStorm, type Storm } from "./storm-processes/storm.ts";
import { problemsOf } from "./storm-processes/verdict.ts";

const options = readCommandLine(USAGE, stormOptionsFrom);
const ground = await openGround(new Set(options.stores));
const storms: (Storm & { readonly problems: readonly string[] })[] = [];
try {
  for (const store of options.stores) {
    const lacks = ground.lacks(await loadStack(store));
    if (lacks !== undefined) throw new Error(`The storm cannot be on ${store}: ${lacks}.`);
    const storm = await runStorm(store, options, ground, report);
    const problems = problemsOf(storm, options);
    storms.push({ ...storm, problems });
    if (!options.json) printStorm(storm, problems);
  }
} finally {
  await ground.end();
}
const isOk = storms.every(({ problems }) => problems.length === 0);
if (options.json) {
  process.stdout.write(`${JSON.stringify({ isOk, ...options, storms }, undefined, 2)}\n`);
}
// Clients of servers that are gone would keep the process alive.
process.exit(isOk ? 0 : 1);
