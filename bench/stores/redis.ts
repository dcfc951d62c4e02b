/**
 * What the Redis store costs beside the two trips that any ledger on Redis makes: a `SET NX` of the
 * record, and a script that writes the outcome if the owner is still the same. The same records, on
 * the same connection.
 *
 * With one caller trips are what is measured. A hundred at a time measure processors: the store keeps indices,
 * versions, leases and the server's time, the floor does not.
 *
 * Run: `node bench/stores/redis.ts [--quick] [--rounds=9]`, against `REDIS_URL` or the Redis on this machine.
 *
 * @module
 */

import { createHash, randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import { createClient } from "redis";
import { packRecord } from "../../src/ledger/codec/record-text.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import type { Store } from "../../src/ledger/store.ts";
import { redisStore } from "../../src/stores/redis/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { drive, inTurns, judge, median, ratios, spread } from "./measure.ts";

const isQuick = process.argv.includes("--quick");
const ROUNDS = Number(
  process.argv.find((arg) => arg.startsWith("--rounds="))?.slice(9) ?? (isQuick ? 3 : 9),
);
const ROUND_MS = 1_000;
const WARM_UP_MS = 500;
const LEAST_RATIO = 0.85;
const LEASE_MS = 25_000;
/** 256 bytes. */
const RESULT = JSON.stringify("r".repeat(254));
const SETTLE = `
if redis.call('GETRANGE', KEYS[1], '0', #ARGV[1] - 1) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1`;
const SETTLE_SHA = createHash("sha1").update(SETTLE).digest("hex");
const run = `hf-bench-${randomBytes(4).toString("hex")}`;
const url = process.env.REDIS_URL ?? "redis://127.0.0.1:6379";

type Call = () => Promise<void>;

const newId = (): string => randomBytes(32).toString("hex");
const claimed = (id: string): OperationRecord => recordOf({ id });
const settled = (id: string): OperationRecord => {
  const payload = { form: "json", text: RESULT } as const;
  const state = { tag: "committed", via: "reply", attempt: 1, payload } as const;
  return recordOf({ id, intent: undefined, state });
};

const guarded =
  (store: Store): Call =>
  async () => {
    const [tenant, id] = ["acme", newId()];
    const record = claimed(id);
    const claim = await store.swap({ tenant, id, expect: 0, record, lease: LEASE_MS });
    if (!claim.ok) throw new Error("A new id is free.");
    const { version: expect } = claim;
    const done = await store.swap({ tenant, id, expect, record: settled(id), lease: "none" });
    if (!done.ok) throw new Error("Only this caller settles it.");
  };

interface Plain {
  /** Writes the value unless there is one. */
  claim(key: string, value: string): Promise<unknown>;
  settle(key: string, owner: string, value: string): Promise<unknown>;
}

const bare =
  ({ claim, settle }: Plain): Call =>
  async () => {
    const id = newId();
    const owner = `${run}.${id.slice(0, 8)}`;
    const key = `${run}:${id}`;
    if ((await claim(key, owner + packRecord(claimed(id)))) !== "OK") {
      throw new Error("A new id is free.");
    }
    if ((await settle(key, owner, packRecord(settled(id)))) !== 1) {
      throw new Error("Only this caller settles it.");
    }
  };

async function compare(client: string, store: Call, trips: Call): Promise<boolean> {
  let isMet = true;
  for (const callers of [1, 100]) {
    await drive(callers, WARM_UP_MS, trips);
    await drive(callers, WARM_UP_MS, store);
    const results = await inTurns(ROUNDS, {
      trips: () => drive(callers, ROUND_MS, trips),
      store: () => drive(callers, ROUND_MS, store),
    });
    for (const [name, rounds] of Object.entries(results)) {
      const of = (what: keyof (typeof rounds)[number]) => rounds.map((round) => round[what]);
      console.log(
        `       ${client}, ${callers} at a time, ${name}: ${spread(of("perSecond"), 0)}/s, ` +
          `p50 ${median(of("p50Us")).toFixed(0)} us, p99 ${median(of("p99Us")).toFixed(0)} us, ` +
          `loop p99 ${median(of("loopP99Ms")).toFixed(1)} ms`,
      );
    }
    const what = `${client}, ${callers} at a time: calls per second beside two bare trips`;
    const values = ratios(results.store, results.trips, "perSecond");
    isMet = judge({ what, values, atLeast: LEAST_RATIO }) && isMet;
  }
  return isMet;
}

const ioredis = new Redis(url);
const nodeRedis = createClient({ url });
await nodeRedis.connect();
await ioredis.script("LOAD", SETTLE);
const stores = [
  redisStore({ client: ioredis, prefix: `${run}-1` }),
  redisStore({ client: nodeRedis, prefix: `${run}-2` }),
] as const;
for (const store of stores) await store.open();
console.log(stores[0].promise.text);

const results = [
  await compare(
    "ioredis",
    guarded(stores[0]),
    bare({
      claim: (key, value) => ioredis.set(key, value, "NX"),
      settle: (key, owner, value) => ioredis.evalsha(SETTLE_SHA, 1, key, owner, value),
    }),
  ),
  await compare(
    "node-redis",
    guarded(stores[1]),
    bare({
      claim: (key, value) => nodeRedis.set(key, value, { condition: "NX" }),
      settle: (key, owner, value) =>
        nodeRedis.evalSha(SETTLE_SHA, { keys: [key], arguments: [owner, value] }),
    }),
  ),
];

for (const store of stores) await store.close();
for await (const keys of ioredis.scanStream({ match: `${run}*`, count: 1_000 })) {
  if (keys.length > 0) await ioredis.unlink(keys);
}
await ioredis.quit();
await nodeRedis.close();
if (!results.every(Boolean)) process.exitCode = 1;
