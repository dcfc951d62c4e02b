/**
 * All stores against their floors, one after the other: `npm run bench:stores`. `--quick` for CI, a
 * store's name for that one alone.
 *
 * @module
 */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { namesIn, readCommandLine } from "./command-line.ts";

const STORES = ["sqlite", "redis", "postgres"];

const USAGE = `npm run bench:stores -- [--quick] [${STORES.join(" | ")} ...]

Each store against its floor, at 1 and 100 callers. Without a name, all of them. --quick: short rounds, as CI runs them.`;

const { quick, chosen } = readCommandLine(USAGE, (args) => {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { quick: { type: "boolean", default: false } },
  });
  const named = positionals.length > 0 ? positionals.join(",") : undefined;
  return { quick: values.quick, chosen: namesIn(named, STORES, "stores") ?? STORES };
});

let failed = 0;
for (const store of chosen) {
  console.log(`\n== ${store}`);
  const bench = fileURLToPath(new URL(`stores/${store}.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, [bench, ...(quick ? ["--quick"] : [])], {
    stdio: "inherit",
  });
  if (status !== 0) failed += 1;
}
process.exitCode = failed > 0 ? 1 : 0;
