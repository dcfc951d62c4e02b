/**
 * Simulates an outage of a provider, with hot lanes and with holdfire's own backoff and retry budget: `npm run
 * bench:outage`. It takes seconds, and no network. `--help` lists the options.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { readCommandLine, wholeNumber } from "./command-line.ts";
import { drawOutage } from "./outage/draw.ts";
import { POLICIES } from "./outage/policies.ts";
import { SCENARIO, simulate } from "./outage/simulate.ts";
import { outageTable, summarize } from "./outage/summary.ts";
import { report } from "./progress.ts";
import { textOf } from "./suite/rows.ts";

const USAGE = `npm run bench:outage -- [options]

  --seed N         ${SCENARIO.seed} unless said
  --picture FILE   draws the runs as SVG
  --json           the figures, as JSON`;

const { seed, values } = readCommandLine(USAGE, (args) => {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string", default: String(SCENARIO.seed) },
      json: { type: "boolean", default: false },
      picture: { type: "string" },
    },
  });
  return { seed: wholeNumber(values.seed, "--seed"), values };
});

const scenario = { ...SCENARIO, seed };
const runs = POLICIES.map((policy) => {
  report(`simulating: ${policy.name}`, false);
  return simulate(scenario, policy);
});
report("", false);
const summaries = runs.map((run) => summarize(scenario, run));
console.log(values.json ? JSON.stringify({ scenario, summaries }) : textOf(outageTable(summaries)));
if (values.picture !== undefined) writeFileSync(values.picture, drawOutage(scenario, runs));
