/**
 * What the SQLite store costs beside the least that a ledger on SQLite could do: a hand-written loop
 * that commits in groups, with ordered keys, rows of the same size and nothing else.
 *
 * Run: `node bench/stores/sqlite.ts [--quick] [--rounds=15] [--only=floor|growth|processes|bytes]`. It
 * takes some minutes: a million rows. `--quick` stops at a hundred thousand.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Store } from "../../src/ledger/store.ts";
import { type SqliteStoreOptions, sqliteStore } from "../../src/stores/sqlite/index.ts";
import { drive, inTurns, judge, type Measured, median, ratios, spread } from "./measure.ts";
import {
  CLAIMED,
  guarded,
  LEASE_MS,
  mintAhead,
  newId,
  openFloor,
  result,
  settledWith,
} from "./sqlite-calls.ts";

const args = process.argv.slice(2);
const isQuick = args.includes("--quick");
const only = args.find((arg) => arg.startsWith("--only="))?.slice("--only=".length);
const rounds = Number(
  args.find((arg) => arg.startsWith("--rounds="))?.slice("--rounds=".length) ?? 15,
);
/** Short rounds, many of them: both sides of a ratio then have the same moment. */
const ROUND_MS = 500;
const childPath = args.find((arg) => arg.startsWith("--child="))?.slice("--child=".length);
const isChild = childPath !== undefined || args.includes("--idle");
/** Made and removed by the parent alone. */
const root = isChild ? "" : mkdtempSync(join(tmpdir(), "holdfire-bench-sqlite-"));
let files = 0;
const newPath = (): string => {
  files += 1;
  return join(root, `${files}.db`);
};
const met: boolean[] = [];

/** Each round on files of its own: how a ledger behaves as it grows is measured below. */
async function againstFloor(): Promise<void> {
  const text = result(256);
  for (const callers of [100, 1]) {
    const onStore = (options: SqliteStoreOptions) => async (): Promise<Measured> => {
      const store = sqliteStore({ ...options, path: newPath() });
      await store.open();
      mintAhead(callers * 300);
      const measured = await drive(callers, ROUND_MS, guarded(store, text));
      await store.close();
      return measured;
    };
    const cases = {
      floor: async () => {
        const floor = openFloor(newPath(), text);
        const measured = await drive(callers, ROUND_MS, floor.call);
        floor.close();
        return measured;
      },
      full: onStore({}),
      process: onStore({ durability: "process" }),
    };
    await inTurns(1, cases);
    const all = await inTurns(rounds, cases);
    for (const [name, measured] of Object.entries(all)) {
      print(`${callers} callers, ${name}`, measured);
    }
    if (callers === 100) {
      const values = ratios(all.full, all.floor, "perSecond");
      met.push(judge({ what: "100 callers: throughput against the floor", values, atLeast: 0.7 }));
    } else {
      const values = ratios(all.full, all.floor, "p50Us");
      met.push(judge({ what: "1 caller: median latency against the floor", values, atMost: 1.3 }));
    }
  }
}

/** Claims without a sync: with one, the disk would hide the growth. */
async function growth(): Promise<void> {
  const settled = settledWith(result(256));
  const { tenant } = settled;
  const [few, many] = [10_000, isQuick ? 100_000 : 1_000_000];
  const fill = async (rows: number): Promise<Store> => {
    const store = sqliteStore({ path: newPath(), durability: "process" });
    await store.open();
    for (let row = 0; row < rows; row += 500) {
      const swaps = Array.from({ length: 500 }, () => {
        const id = newId();
        return store.swap({ tenant, id, expect: 0, record: { ...settled, id }, lease: "none" });
      });
      await Promise.all(swaps);
    }
    return store;
  };
  const small = await fill(few);
  const large = await fill(many);
  const claim = (store: Store) => () =>
    drive(1, 300, async () => {
      const id = newId();
      const record = { ...CLAIMED, id };
      const swapped = await store.swap({ tenant, id, expect: 0, record, lease: LEASE_MS });
      if (!swapped.ok) throw new Error("A new id is free.");
    });
  // Short rounds: a small ledger must not grow much while it is measured.
  const all = await inTurns(rounds, { small: claim(small), large: claim(large) });
  print(`claims, ${few} rows`, all.small);
  print(`claims, ${many} rows`, all.large);
  const values = ratios(all.large, all.small, "p50Us");
  met.push(judge({ what: `a claim among ${many} rows against ${few}`, values, atMost: 1.6 }));
  await small.close();
  await large.close();
}

/**
 * A fifth process does nothing beside them. How late its loop is, is the machine's doing, and is taken
 * off the others'.
 */
async function fourProcesses(): Promise<void> {
  const stalls: number[] = [];
  const beyond: number[] = [];
  const perSecond: number[] = [];
  for (let round = 0; round < Math.min(rounds, 5); round += 1) {
    const path = newPath();
    const store = sqliteStore({ path });
    await store.open();
    await store.close();
    const idle = child("--idle");
    const busy = await Promise.all(Array.from({ length: 4 }, () => child(`--child=${path}`)));
    const { loopMaxMs } = await idle;
    const stall = Math.max(...busy.map((one) => one.loopMaxMs));
    stalls.push(stall);
    beyond.push(stall - loopMaxMs);
    perSecond.push(busy.reduce((sum, one) => sum + one.perSecond, 0));
    print(`4 processes, round ${round + 1}`, busy);
    console.log(`       and one that does nothing: loop max ${loopMaxMs.toFixed(1)} ms`);
  }
  console.log(
    `       4 processes together: ${spread(perSecond, 0)} calls/s, longest stall ${spread(stalls, 1)} ms`,
  );
  const what = "4 processes: longest stall of a loop beyond that of an idle one, ms";
  met.push(judge({ what, values: beyond, atMost: 50 }));
}

function child(role: string): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const self = fileURLToPath(import.meta.url);
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const started = spawn(process.execPath, [self, role], { stdio: [...stdio] });
    let output = "";
    started.stdout?.on("data", (data) => {
      output += data;
    });
    started.on("error", reject);
    started.on("close", (code) =>
      code === 0 ? resolve(JSON.parse(output)) : reject(new Error(`A child ended with ${code}.`)),
    );
  });
}

async function bytes(): Promise<void> {
  const path = newPath();
  const store = sqliteStore({ path, durability: "process" });
  const call = guarded(store, result(1_024));
  const operations = isQuick ? 10_000 : 50_000;
  let left = operations;
  const caller = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: 100 }, caller));
  await store.close();
  const each = Math.round(statSync(path).size / operations);
  console.log(`${each} bytes per operation with a result of 1 KB`);
}

function print(what: string, all: readonly Measured[]): void {
  const of = (key: keyof Measured) => all.map((one) => one[key]);
  console.log(
    `       ${what}: ${spread(of("perSecond"), 0)} calls/s, p50 ${median(of("p50Us")).toFixed(0)} µs,` +
      ` p99 ${median(of("p99Us")).toFixed(0)} µs, loop p99 ${median(of("loopP99Ms")).toFixed(1)} ms,` +
      ` max ${Math.max(...of("loopMaxMs")).toFixed(1)} ms`,
  );
}

const CHILD_MS = 1_500;
if (args.includes("--idle")) {
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 5));
  await drive(1, 200, pause);
  console.log(JSON.stringify(await drive(1, CHILD_MS, pause)));
} else if (childPath !== undefined) {
  const store = sqliteStore({ path: childPath });
  await store.open();
  const call = guarded(store, result(256));
  await drive(25, 200, call);
  console.log(JSON.stringify(await drive(25, CHILD_MS, call)));
  await store.close();
} else {
  try {
    const parts = { floor: againstFloor, growth, processes: fourProcesses, bytes };
    for (const [name, part] of Object.entries(parts)) {
      if (only === undefined || only === name) await part();
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
  process.exitCode = met.every(Boolean) ? 0 : 1;
}
