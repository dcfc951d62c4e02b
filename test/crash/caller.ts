/**
 * A process that makes guarded calls on a SQLite ledger while its system calls are traced. Prints the
 * id and the key of each.
 *
 * Run: `node caller.ts PATH DURABILITY URL CALLS AT_ONCE`.
 *
 * @module
 */

import { createHoldfire } from "../../src/create.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { createClient } from "../../src/testing/faulty-service/client.ts";
import { atMost } from "../processes/at-most.ts";

const [path = "", durability = "", url = "", calls = "", atOnce = ""] = process.argv.slice(2);
const hf = createHoldfire({
  store: sqliteStore({ path, durability: durability === "process" ? "process" : "full" }),
  witness: memoryWitness(),
});
const client = createClient(url, "neither");
const send = hf.tool({
  name: "send",
  kind: "write",
  run: (args: { readonly to: string }, { key, signal }) => client.create(args, { key, signal }),
  attemptTimeoutMs: 60_000,
});
const names = Array.from({ length: Number(calls) }, (_, index) => `reader ${index}`);
const outcomes = await atMost(Number(atOnce), names, (to) =>
  send.outcome({ to }, { scope: "job" }),
);
process.stdout.write(JSON.stringify(outcomes.map(({ id, key, status }) => ({ id, key, status }))));
await hf.close();
