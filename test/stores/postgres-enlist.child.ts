/**
 * A process that claims an operation, makes its effect and settles it in one transaction, and then
 * stands still where it is told to: it is killed there.
 *
 * @module
 */

import pg from "pg";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";

const [url, schema, where] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 2, application_name: `${schema} child` });
const store = postgresStore({ pool, schema });

const client = await pool.connect();
await client.query("BEGIN");
const enlisted = store.enlist(client);
await enlisted.open();
const { version } = await mustSwap(enlisted, { ...create(recordOf()), lease: 60_000 });
await client.query(`INSERT INTO "${schema}".business VALUES ('row-1')`);
const settled = recordOf({ state: { tag: "committed", via: "reply", attempt: 1 } });
await mustSwap(enlisted, { ...create(settled), expect: version });
if (where === "settled") await standStill();
await client.query("COMMIT");
if (where === "committed") await standStill();

function standStill(): Promise<never> {
  process.stdout.write(`${where}\n`);
  return new Promise(() => {
    setInterval(() => {}, 60_000);
  });
}
