/**
 * One of several processes that claim, and then change, the same keys at the same moment. Told when by
 * a line on standard input; tells which keys it won.
 *
 * @module
 */

import { createInterface } from "node:readline";
import pg from "pg";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create } from "../../src/testing/store-contract/subject.ts";

const [url, schema, order, count] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: url, max: 4 });
const store = postgresStore({ pool, schema });
await store.open();

const ids = Array.from({ length: Number(count) }, (_, index) => `operation-${index}`);
if (order === "backwards") ids.reverse();
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

async function claim(): Promise<string[]> {
  const swaps = await Promise.all(ids.map((id) => store.swap(create(recordOf({ id })))));
  return ids.filter((_, index) => swaps[index]?.ok);
}

const versions = new Map<string, number>();

async function look(): Promise<void> {
  for (const { record, version } of (await store.list({ tenant: "acme", limit: 1_000 })).items) {
    versions.set(record.id, version);
  }
}

/** All expect the versions that they saw when nobody wrote. */
async function change(): Promise<string[]> {
  const swaps = await Promise.all(
    ids.map((id) => {
      const record = recordOf({ id, argsHash: "changed" });
      return store.swap({ ...create(record), expect: versions.get(id) ?? 0 });
    }),
  );
  return ids.filter((_, index) => swaps[index]?.ok);
}

say("ready");
for await (const word of createInterface({ input: process.stdin })) {
  if (word === "claim") say(JSON.stringify(await claim()));
  else if (word === "look") say(JSON.stringify(await look().then(() => [])));
  else if (word === "change") say(JSON.stringify(await change()));
  else break;
}
await store.close();
await pool.end();
process.stdin.destroy();
