/**
 * How long the console's requests take on a large ledger: the first page, a search, a filter, the inbox, health.
 *
 * Run: `node bench/console.ts [--rows=1000000]`. It fills a SQLite ledger first, which takes a minute or more.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stderr, stdout } from "node:process";
import { consoleHandler } from "../src/console/index.ts";
import type { OperationPage } from "../src/console/model.ts";
import { createHoldfire } from "../src/create.ts";
import { changesIn } from "../src/describe/changes.ts";
import { wireKey } from "../src/key/mint.ts";
import type { State } from "../src/ledger/record.ts";
import { sqliteStore } from "../src/stores/sqlite/index.ts";
import { recordOf } from "../src/testing/record-of.ts";
import { median } from "./stores/measure.ts";

const given = process.argv.find((arg) => arg.startsWith("--rows="))?.slice("--rows=".length);
const ROWS = Number(given ?? 1_000_000);
const TOGETHER = 2_000;
const ROUNDS = 7;
const TOOLS = 20;
const DAY_MS = 86_400_000;

const folder = mkdtempSync(join(tmpdir(), "holdfire-bench-console-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
const store = sqliteStore({ path: join(folder, "ledger.db") });
const hf = createHoldfire({ store });
const started = Date.now() - 30 * DAY_MS;

const idOf = (n: number): string => createHash("sha256").update(String(n)).digest("base64url");

/** One in a thousand is unknown, one in fifty was not applied. */
function stateOf(n: number): State {
  if (n % 1_000 === 999) return { tag: "unknown", reason: "lost_reply" };
  if (n % 50 === 49) return { tag: "not_applied", reason: "rejected" };
  return { tag: "committed", via: "reply", attempt: 1 };
}

async function add(n: number): Promise<void> {
  const at = started + Math.floor((n / ROWS) * 30 * DAY_MS);
  const id = idOf(n);
  const record = recordOf({
    ...{ tenant: "default", id, tool: `tool_${n % TOOLS}`, scope: `conversation-${n >> 2}` },
    ...{ resource: `payment/${n}`, state: stateOf(n), createdAt: at, stateAt: at + 200 },
    attempts: [
      {
        ...{ n: 1, epoch: 1, generation: 0, licence: "first", at, endedAt: at + 200 },
        ...{ verdict: "committed", status: 200, wireRequests: 1 },
      },
    ],
  });
  await store.swap({ tenant: "default", id, expect: 0, record, lease: "none" });
}

await store.open();
for (let from = 0; from < ROWS; from += TOGETHER) {
  const size = Math.min(TOGETHER, ROWS - from);
  await Promise.all(Array.from({ length: size }, (_, index) => add(from + index)));
  if (stderr.isTTY) stderr.write(`\r${from + size} rows`);
}
if (stderr.isTTY) stderr.write("\r\u001b[2K");

const handler = consoleHandler(hf, { authorize: () => ({ name: "ana" }) });
async function ask<T>(path: string): Promise<T> {
  const response = await handler(new Request(`http://127.0.0.1/${path}`));
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

const say = (line: string): boolean => stdout.write(`${line}\n`);

async function time(what: string, work: () => Promise<unknown>): Promise<void> {
  const took: number[] = [];
  await work();
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    await work();
    took.push(performance.now() - began);
  }
  const most = Math.max(...took).toFixed(1);
  say(`${what.padEnd(58)} ${median(took).toFixed(1).padStart(8)} ms, at most ${most}`);
}

const middle = Math.floor(ROWS / 2);
say(`${ROWS.toLocaleString("en")} operations in SQLite, ${ROUNDS} rounds each, the median:`);
await time("first page, newest first", () => ask("api/operations"));
const { cursor } = await ask<OperationPage>("api/operations");
await time("second page", () => ask(`api/operations?cursor=${cursor}`));
await time("filter: unknown", () => ask("api/operations?status=unknown"));
await time("filter: one tool of twenty", () => ask("api/operations?tool=tool_7"));
await time("filter: a scope in the middle", () =>
  ask(`api/operations?scope=conversation-${middle >> 2}`),
);
await time("one operation with its timeline", () => ask(`api/operations/${idOf(middle)}`));
await time("search: an id (first step)", () => ask(`api/operations?q=${idOf(middle)}`));
await time("search: a key of the newest hundred (first step)", () =>
  ask(`api/operations?q=${wireKey(idOf(ROWS - 50), 0)}`),
);
await time("search: nothing has it (first step, then it goes on)", () =>
  ask("api/operations?q=no-such"),
);
await time("inbox", () => ask("api/inbox"));
let hours = 0;
// Another time each round: the same one is answered from what was read last.
await time("health, of the last hours", () => ask(`api/health?hours=${++hours}`));
const look = changesIn(hf, new AbortController().signal);
await time("one look at what has changed", look);

const began = performance.now();
let [steps, looked, next] = [0, 0, "" as string | undefined];
while (next !== undefined) {
  const page: OperationPage = await ask(
    `api/operations?q=${wireKey(idOf(3), 0)}${next && `&cursor=${next}`}`,
  );
  steps += 1;
  looked += page.looked;
  next = page.cursor;
}
const seconds = ((performance.now() - began) / 1_000).toFixed(1);
say(
  `search to the end of the ledger: ${seconds} s in ${steps} steps, ${looked.toLocaleString("en")} compared`,
);
await hf.close();
