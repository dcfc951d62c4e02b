/**
 * Simulates an outage of a provider, with hot lanes and with holdfire's own backoff and retry budget:
 * `npm run bench:outage [-- --seed N] [--json] [--picture FILE]`. It takes seconds, and no network.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { drawOutage } from "./outage/draw.ts";
import { POLICIES } from "./outage/policies.ts";
import { SCENARIO, simulate } from "./outage/simulate.ts";
import { outageTable, summarize } from "./outage/summary.ts";
import { report } from "./progress.ts";
import { textOf } from "./suite/rows.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: String(SCENARIO.seed) },
    json: { type: "boolean", default: false },
    picture: { type: "string" },
  },
});
const seed = Number(values.seed);
if (!Number.isInteger(seed)) {
  console.error(`--seed takes a whole number, not "${values.seed}".`);
  process.exit(2);
}

const scenario = { ...SCENARIO, seed };
const runs = POLICIES.map((policy) => {
  report(`simulating: ${policy.name}`, false);
  return simulate(scenario, policy);
});
report("", false);
const summaries = runs.map((run) => summarize(scenario, run));
console.log(values.json ? JSON.stringify({ scenario, summaries }) : textOf(outageTable(summaries)));
if (values.picture !== undefined) writeFileSync(values.picture, drawOutage(scenario, runs));
