/**
 * One life of a program with a DBOS workflow whose step pays. `dbos-child.ts URL SCHEMA FOLDER HOW`
 *
 * HOW is `die` (after the payment, before DBOS hears of it), `recover` (finish what the last life left open),
 * or `throw` (after the payment, once).
 *
 * @module
 */

import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { DBOS } from "@dbos-inc/dbos-sdk";
import { createHoldfire } from "../../../src/create.ts";
import { scopeFrom } from "../../../src/integrations/durable/index.ts";
import { sqliteStore } from "../../../src/stores/sqlite/index.ts";

const [url = "", schema = "", folder = "", how = ""] = process.argv.slice(2);
const note = (file: string, line: object) =>
  appendFileSync(join(folder, file), `${JSON.stringify(line)}\n`);

const hf = createHoldfire({ store: sqliteStore({ path: join(folder, "ledger.db") }) });
const pay = hf.tool({
  name: "pay",
  kind: "write",
  run: async ({ cents }: { cents: number }) => {
    note("effects", { cents });
    return { receipt: crypto.randomUUID() };
  },
});

let runs = 0;

async function step(): Promise<{ receipt: string }> {
  runs += 1;
  const scope = scopeFrom.dbos(DBOS);
  note("steps", { scope });
  const paid = await hf.scope(scope, () => pay({ cents: 400 }));
  if (how === "die") process.exit(7);
  if (how === "throw" && runs === 1) throw new Error("after the payment");
  return paid;
}

async function workflow(): Promise<{ receipt: string }[]> {
  const retry = { retriesAllowed: true, intervalSeconds: 0.01, maxAttempts: 3 };
  return [await DBOS.runStep(step, { name: "pay", ...retry })];
}

DBOS.setConfig({
  name: "holdfire-test",
  systemDatabaseUrl: url,
  systemDatabaseSchemaName: schema,
  systemDatabasePoolSize: 3,
  logLevel: "error",
});
const registered = DBOS.registerWorkflow(workflow, { name: "order" });
await DBOS.launch();
const workflowID = "order-7";
const handle =
  how === "recover"
    ? DBOS.retrieveWorkflow<{ receipt: string }[]>(workflowID)
    : await DBOS.startWorkflow(registered, { workflowID })();
note("results", { result: await handle.getResult() });
await DBOS.shutdown();
await hf.close();
