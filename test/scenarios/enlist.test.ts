/** A local effect and its record in one transaction of the user's. */
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/index.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { startFaultyService } from "../../src/testing/faulty-service.ts";
import { findScratch, type Scratch } from "../servers/postgres.ts";

const found = await findScratch();

describe.skipIf(!found)("an operation enlisted in a transaction", () => {
  const { schema, pool, drop } = found ?? ({} as Scratch);
  let hf: Holdfire;

  beforeAll(() => pool.query(`CREATE TABLE ${schema}.orders (item text)`));

  beforeEach(async () => {
    await pool.query(`TRUNCATE ${schema}.orders`);
    const store = postgresStore({ pool, schema, migrate: true });
    hf = createHoldfire({
      store,
      witness: memoryWitness(),
      retry: { cooldownMs: 1, leaseMs: 1_100 },
    });
  });

  afterEach(() => hf.close());

  afterAll(() => drop());

  const orders = async () => (await pool.query(`SELECT item FROM ${schema}.orders`)).rows.length;

  /** Long enough for one INSERT; what was rolled back is tried again when it is over. */
  const ATTEMPT_MS = 1_000;

  /** Orders inside a transaction that ends as `end` says. */
  async function inTransaction(
    scope: string,
    end: "COMMIT" | "ROLLBACK",
    run?: () => Promise<unknown>,
  ) {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const order = hf.enlist(client).tool({
        name: "order",
        kind: "write",
        attemptTimeoutMs: ATTEMPT_MS,
        run: async ({ item }: { item: string }) => {
          await client.query(`INSERT INTO ${schema}.orders VALUES ($1)`, [item]);
          await run?.();
          return item;
        },
      });
      const outcome = await order.outcome({ item: "tea" }, { scope });
      await client.query(end);
      return outcome;
    } finally {
      client.release();
    }
  }

  test("commits with its effect, and is replayed afterwards", async () => {
    const scope = randomUUID();
    expect(await inTransaction(scope, "COMMIT")).toMatchObject({ status: "committed" });
    expect(await inTransaction(scope, "COMMIT")).toMatchObject({
      status: "committed",
      replayed: true,
    });
    expect(await orders()).toBe(1);
  });

  test("rolled back, it is absent for certain and fires again", async () => {
    const scope = randomUUID();
    // Nobody says that it was rolled back: the lease has to run out.
    await inTransaction(scope, "ROLLBACK");
    expect(await orders()).toBe(0);
    expect((await hf.operations.list({ scope })).items[0]?.status).toBe("claimed");
    expect(await inTransaction(scope, "COMMIT")).toMatchObject({
      status: "committed",
      replayed: false,
      licence: "not_sent",
    });
    expect(await orders()).toBe(1);
  });

  test("that throws is not applied, since its transaction is rolled back", async () => {
    const scope = randomUUID();
    const failing = () => Promise.reject(new Error("no such item"));
    expect(await inTransaction(scope, "ROLLBACK", failing)).toMatchObject({
      status: "not_applied",
      reason: "not_sent",
      attempts: 1,
    });
    expect(await inTransaction(scope, "COMMIT")).toMatchObject({ status: "committed" });
    expect(await orders()).toBe(1);
  });

  test("that cannot be recorded throws, so that its transaction is rolled back", async () => {
    const client = await pool.connect();
    await client.query("BEGIN");
    const order = hf.enlist(client).tool({
      name: "order",
      kind: "write",
      // The transaction ends under its feet: what is settled now would be in none.
      run: () => client.query("ROLLBACK"),
    });
    const called = order({}, { scope: randomUUID() });
    await expect(called).rejects.toMatchObject({ code: "ERR_HOLDFIRE_LEASE_LOST" });
    client.release();
  });

  test("is waited for by close, also when it is not the first of its transaction", async () => {
    const scope = randomUUID();
    const told: string[] = [];
    const steps = new EventEmitter();
    const begun = once(steps, "begun");
    const asked = once(steps, "asked");
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const order = hf.enlist(client).tool({
        name: "order",
        kind: "write",
        run: async ({ item }: { item: string }) => {
          if (item === "milk") {
            steps.emit("begun");
            await asked;
          }
          await client.query(`INSERT INTO ${schema}.orders VALUES ($1)`, [item]);
          told.push(item);
        },
      });
      await order({ item: "tea" }, { scope });
      const second = order.outcome({ item: "milk" }, { scope });
      await begun;
      const closing = hf.close().then(() => told.push("closed"));
      // Longer than a close that waits for nothing.
      await pool.query("SELECT 1");
      steps.emit("asked");
      expect(await second).toMatchObject({ status: "committed", recorded: true });
      await closing;
    } finally {
      await client.query("COMMIT");
      client.release();
    }
    expect(told).toEqual(["tea", "milk", "closed"]);
    expect(await orders()).toBe(2);
  });

  test("sends no request: it is refused before it leaves", async () => {
    await using service = await startFaultyService();
    const send = () => fetch(`${service.url}/neither/effects`, { method: "POST", body: "{}" });
    const outcome = await inTransaction(randomUUID(), "ROLLBACK", send);
    expect(outcome).toMatchObject({ status: "not_applied" });
    expect(service.arrivals).toHaveLength(0);
  });
});

test("a store without transactions cannot enlist, and says so", async () => {
  const hf = createHoldfire({ store: memoryStore() });
  expect(() => hf.enlist({})).toThrow("cannot enlist");
  await hf.close();
});
