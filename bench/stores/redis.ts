/**
 * What the Redis store costs beside the trips it must make: claim and settle through the store,
 * against a `SET` and a script that echoes, with the same bytes, on the same connection.
 *
 * Rounds alternate, so that a busy moment hits both. Run: `node bench/stores/redis.ts [rounds]`.
 *
 * @module
 */

import { createHash, randomBytes } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { packRecord } from "../../src/ledger/pack.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import { redisStore } from "../../src/stores/redis.ts";
import { recordOf } from "../../src/testing/record-of.ts";

const ROUNDS = Number(process.argv[2] ?? 7);
const ROUND_MS = 1_000;
const LEAST_RATIO = 0.8;
const RESULT = JSON.stringify("r".repeat(254));
const LEASE_MS = 25_000;
const ECHO = "return ARGV[1]";
const ECHO_SHA = createHash("sha1").update(ECHO).digest("hex");
const run = `hf-bench-${randomBytes(4).toString("hex")}`;
const url = process.env.REDIS_URL ?? "redis://127.0.0.1:6379";

type Call = (id: string) => Promise<void>;

const claimed = (id: string): OperationRecord => recordOf({ id, resource: undefined });
const settled = (id: string): OperationRecord =>
  recordOf({
    id,
    intent: undefined,
    state: {
      tag: "committed",
      via: "reply",
      attempt: 1,
      payload: { form: "json", text: RESULT },
    },
  });

interface Plain {
  set(key: string, value: string): Promise<unknown>;
  echo(key: string, value: string): Promise<unknown>;
}

const bare =
  ({ set, echo }: Plain): Call =>
  async (id) => {
    await set(`${run}:${id}`, packRecord(claimed(id)));
    await echo(`${run}:${id}`, packRecord(settled(id)));
  };

const guarded =
  (store: ReturnType<typeof redisStore>): Call =>
  async (id) => {
    const tenant = "acme";
    const record = claimed(id);
    const claim = await store.swap({ tenant, id, expect: 0, record, lease: LEASE_MS });
    if (!claim.ok) throw new Error("A new id is free.");
    const { version: expect } = claim;
    const done = await store.swap({ tenant, id, expect, record: settled(id), lease: "none" });
    if (!done.ok) throw new Error("Nobody else settles it.");
  };

/** Calls per second, with so many at a time. */
async function measure(call: Call, concurrency: number, ms: number): Promise<number> {
  const until = performance.now() + ms;
  let calls = 0;
  const began = performance.now();
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      await call(randomBytes(32).toString("hex"));
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return (calls * 1_000) / (performance.now() - began);
}

const spread = (samples: readonly number[], digits: number): string => {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (index: number) => (sorted.at(index) ?? Number.NaN).toFixed(digits);
  return `${at(Math.floor(sorted.length / 2))} (${at(0)}..${at(-1)})`;
};

async function compare(client: string, ours: Call, theirs: Call): Promise<boolean> {
  let good = true;
  for (const concurrency of [1, 100]) {
    await measure(theirs, concurrency, ROUND_MS / 2);
    await measure(ours, concurrency, ROUND_MS / 2);
    const samples = { ours: [] as number[], bare: [] as number[], ratio: [] as number[] };
    const delay = monitorEventLoopDelay({ resolution: 1 });
    for (let round = 0; round < ROUNDS; round += 1) {
      const without = await measure(theirs, concurrency, ROUND_MS);
      delay.enable();
      const withStore = await measure(ours, concurrency, ROUND_MS);
      delay.disable();
      samples.bare.push(without);
      samples.ours.push(withStore);
      samples.ratio.push(withStore / without);
    }
    const median = samples.ratio.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0;
    good &&= median >= LEAST_RATIO;
    console.log(
      `${client}, c=${concurrency}: store ${spread(samples.ours, 0)}/s, two bare trips ${spread(samples.bare, 0)}/s, ` +
        `ratio ${spread(samples.ratio, 2)}, loop delay p99 ${(delay.percentile(99) / 1e6).toFixed(1)} ms`,
    );
  }
  return good;
}

const ioredis = new Redis(url);
const nodeRedis = createClient({ url });
await nodeRedis.connect();
await ioredis.script("LOAD", ECHO);
const stores = [
  redisStore({ client: ioredis, prefix: `${run}-1` }),
  redisStore({ client: nodeRedis, prefix: `${run}-2` }),
] as const;
for (const store of stores) await store.open();

const results = [
  await compare(
    "ioredis",
    guarded(stores[0]),
    bare({
      set: (key, value) => ioredis.set(key, value),
      echo: (key, value) => ioredis.evalsha(ECHO_SHA, 1, key, value),
    }),
  ),
  await compare(
    "node-redis",
    guarded(stores[1]),
    bare({
      set: (key, value) => nodeRedis.set(key, value),
      echo: (key, value) => nodeRedis.evalSha(ECHO_SHA, { keys: [key], arguments: [value] }),
    }),
  ),
];
console.log(`at least ${LEAST_RATIO} of two bare trips: ${results.every(Boolean) ? "yes" : "no"}`);

for (const store of stores) await store.close();
for await (const keys of ioredis.scanStream({ match: `${run}*`, count: 1_000 })) {
  if (keys.length > 0) await ioredis.unlink(keys);
}
await ioredis.quit();
await nodeRedis.close();
if (!results.every(Boolean)) process.exitCode = 1;
