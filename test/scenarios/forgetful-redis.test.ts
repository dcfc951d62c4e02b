/** A Redis that may evict records, with a tool that can be read. */
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { cannotTell } from "../../src/engine/define/reading.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { redisStore } from "../../src/stores/redis/index.ts";
import { faults, startFaultyService } from "../../src/testing/faulty-service.ts";
import { listen } from "../observe/heard.ts";
import { canStartRedis, type RedisServer, startRedis } from "../servers/redis.ts";
import { lookUp } from "./world.ts";

const canStart = await canStartRedis();
const EVICTS = [
  "--appendonly",
  "yes",
  "--appendfsync",
  "always",
  "--maxmemory-policy",
  "allkeys-lru",
];

describe.skipIf(!canStart)("a Redis that evicts", () => {
  let server: RedisServer;
  let client: Redis;

  beforeAll(async () => {
    server = await startRedis(EVICTS);
    client = new Redis(server.port);
  });

  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  test("a payout whose record was evicted is found, not made again", async () => {
    await using service = await startFaultyService();
    const bank = service.client("readable");
    const hf = createHoldfire({ store: redisStore({ client }), witness: memoryWitness() });
    const heard = listen(hf);
    const payOut = hf.tool({
      name: "pay_out",
      kind: "write",
      run: (args: { payee: string }, { key, signal }) => bank.create(args, { key, signal }),
      readState: lookUp(bank),
    });
    const call = () => payOut.outcome({ payee: "ana" }, { scope: "job" });
    expect(await call()).toMatchObject({ status: "committed", attempts: 1 });
    const [record = "", ...others] = await client.keys("*:o:*");
    expect(others).toEqual([]);
    await client.del(record);
    expect(await call()).toMatchObject({ status: "committed", effect: "noop", attempts: 0 });
    expect(await call()).toMatchObject({ status: "committed", replayed: true });
    expect(service.effects).toHaveLength(1);
    expect(heard("warning")).toMatchObject([{ code: "store_forgot", tool: "pay_out" }]);
    await hf.close();
  });

  test("an earlier turn that was evicted is read first, though the turn that joins it is called fresh", async () => {
    await using service = await startFaultyService();
    const bank = service.client("readable");
    const store = redisStore({ client, prefix: "turns" });
    const hf = createHoldfire({ store, witness: memoryWitness() });
    let isDown = true;
    const payOut = hf.tool({
      name: "pay_out",
      kind: "write",
      deadlineMs: 2_000,
      run: (args: { payee: string }, { key, signal }) => bank.create(args, { key, signal }),
      readState: (query) => (isDown ? cannotTell("down") : lookUp(bank)(query)),
    });
    const say = (turn: string) =>
      hf.scope({ thread: "chat", turn }, () => payOut.outcome({ payee: "ana" }), { fresh: true });
    service.plan(faults.commitThenReset());
    const first = await say("1");
    expect(first.status).toBe("unknown");
    expect(await client.del(await client.keys("turns*:o:*"))).toBe(1);
    isDown = false;
    expect(await say("2")).toMatchObject({ id: first.id, status: "committed", attempts: 0 });
    expect(service.effects).toHaveLength(1);
    await hf.close();
  });
});
