/**
 * All stores against their floors, one after the other: `npm run bench:stores`. `--quick` for CI, a
 * store's name for that one alone.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const STORES = ["sqlite", "redis", "postgres"];

const USAGE = `npm run bench:stores -- [--quick] [${STORES.join(" | ")} ...]

Each store against its floor, at 1 and 100 callers. Without a name, all of them. --quick: short rounds, as CI runs them.`;

const given = process.argv.slice(2);
if (given.includes("--help")) {
  console.log(USAGE);
  process.exit(0);
}
const options = given.filter((word) => word.startsWith("--"));
const chosen = given.filter((word) => !word.startsWith("--"));

let failed = 0;
for (const store of chosen.length > 0 ? chosen : STORES) {
  if (!STORES.includes(store)) {
    console.error(`There is no store "${store}"; there are ${STORES.join(", ")}.`);
    process.exit(2);
  }
  console.log(`\n== ${store}`);
  const bench = fileURLToPath(new URL(`stores/${store}.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, [bench, ...options], { stdio: "inherit" });
  if (status !== 0) failed += 1;
}
process.exitCode = failed > 0 ? 1 : 0;
