/**
 * Real clients through the gateway, with faults: how often the service is made to pay, without the gateway and with it.
 * Ends with 1 if it is not what it must be, or if `docs/gateway.md` has another table.
 *
 *   node test/gateway/hosts/run.ts [--write] [--client NAME] [--jobs N]
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findTable } from "../../table-in-page.ts";
import { LIBRARIES, type Library } from "./client.ts";
import { COLUMNS, type Column } from "./columns.ts";
import { problemOf } from "./judge.ts";
import { play, type Way } from "./play.ts";
import { type Counted, tableOf } from "./table.ts";

const PLACE = { name: "hosts", command: "npm run hosts -- --write", page: "docs/gateway.md" };

const { values } = parseArgs({
  options: {
    write: { type: "boolean", default: false },
    client: { type: "string" },
    jobs: { type: "string", default: "2" },
  },
});
const libraries = LIBRARIES.filter(({ name }) => (values.client ?? name) === name);
const problems: string[] = libraries.length > 0 ? [] : [`There is no client ${values.client}.`];
const counted: Counted[] = [];
const folder = mkdtempSync(join(tmpdir(), "holdfire-hosts-"));

async function count(library: Library, column: Column, way: Way): Promise<number> {
  const seen = await play(library, column, way, mkdtempSync(join(folder, "play-")));
  const problem = problemOf(seen, column, way);
  const where = `${library.title}, ${column.title}, ${way === "bare" ? "without" : "with"}`;
  process.stderr.write(`${where}: ${problem ?? seen.payments}\n`);
  if (problem) {
    problems.push(`${where}: ${problem}`, ...seen.words.map((one) => `  ${one}`), seen.complained);
  }
  return seen.payments;
}

const cells = libraries.flatMap((library) => COLUMNS.map((column) => ({ library, column })));
async function work(): Promise<void> {
  for (let cell = cells.shift(); cell; cell = cells.shift()) {
    const { library, column } = cell;
    const bare = column.fault && (await count(library, column, "bare"));
    counted.push({ library, column, bare, gateway: await count(library, column, "gateway") });
  }
}
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
rmSync(folder, { recursive: true, force: true });

const table = tableOf(counted);
console.log(table);
const isWhole = libraries.length === LIBRARIES.length;
if (isWhole && problems.length === 0) {
  const place = findTable(PLACE);
  if (values.write) place.write(table);
  else if (place.text !== table) problems.push("docs/gateway.md has another table.");
}
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
