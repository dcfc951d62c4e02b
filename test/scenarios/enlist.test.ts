/** A local effect and its record in one transaction of the user's. */
import { randomUUID } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { absent, createHoldfire, type Holdfire } from "../../src/index.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type PostgresStore, postgresStore } from "../../src/stores/postgres/index.ts";
import { startFaultyService } from "../../src/testing/faulty-service.ts";
import { mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { findScratch, type Scratch } from "../servers/postgres.ts";

const found = await findScratch();

describe.skipIf(!found)("an operation enlisted in a transaction", () => {
  const { schema, pool, drop } = found ?? ({} as Scratch);
  let store: PostgresStore;
  let hf: Holdfire;

  beforeAll(() => pool.query(`CREATE TABLE ${schema}.orders (item text)`));

  beforeEach(async () => {
    await pool.query(`TRUNCATE ${schema}.orders`);
    store = postgresStore({ pool, schema, migrate: true });
    hf = createHoldfire({
      store,
      witness: memoryWitness(),
      retry: { cooldownMs: 1, leaseMs: 1_100 },
    });
  });

  afterEach(() => hf.close());

  afterAll(() => drop());

  const orders = async () => (await pool.query(`SELECT item FROM ${schema}.orders`)).rows.length;

  // Longer than the lease of a claim whose transaction was rolled back.
  const DEADLINE_MS = 8_000;

  /** Orders inside a transaction that ends as `end` says. */
  async function inTransaction(
    scope: string,
    end: "COMMIT" | "ROLLBACK",
    run?: () => Promise<unknown>,
    deadlineMs = DEADLINE_MS,
  ) {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const order = hf.enlist(client).tool({
        name: "order",
        kind: "write",
        deadlineMs,
        run: async ({ item }: { item: string }) => {
          await client.query(`INSERT INTO ${schema}.orders VALUES ($1)`, [item]);
          await run?.();
          return item;
        },
      });
      // Also where it throws: a caller may catch that, and commit.
      const ending = () => client.query(end);
      const outcome = await order.outcome({ item: "tea" }, { scope }).finally(ending);
      await cooledDown(outcome.at);
      return outcome;
    } finally {
      client.release();
    }
  }

  /** An end is noted no earlier than it is on the server's clock: on a slow machine that clock reaches it later. */
  async function cooledDown(at: number): Promise<void> {
    const clock = `SELECT extract(epoch FROM clock_timestamp()) * 1000 > ${at} + 1 AS passed`;
    while (!(await pool.query(clock)).rows[0].passed);
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

  test("is replayed in its own transaction, too, before that has ended", async () => {
    const scope = randomUUID();
    const client = await pool.connect();
    await client.query("BEGIN");
    const order = () =>
      hf.enlist(client).run({
        name: "order",
        kind: "write",
        scope,
        args: { item: "tea" },
        run: async ({ item }) => {
          await client.query(`INSERT INTO ${schema}.orders VALUES ($1)`, [item]);
          return item;
        },
      });
    expect([await order(), await order()]).toEqual(["tea", "tea"]);
    await client.query("COMMIT");
    client.release();
    expect(await orders()).toBe(1);
  });

  test.each(["COMMIT", "ROLLBACK"])(
    "and another one to the same thing in the same transaction: both, %s",
    async (end) => {
      const scope = randomUUID();
      const resource = `account/${scope}`;
      const inOne = async (last: string) => {
        const client = await pool.connect();
        await client.query("BEGIN");
        const order = hf.enlist(client).tool({
          name: "order",
          kind: "write",
          resource: () => resource,
          run: async ({ item }: { item: string }) => {
            await client.query(`INSERT INTO ${schema}.orders VALUES ($1)`, [item]);
            return item;
          },
        });
        const told = [
          await order({ item: "tea" }, { scope }),
          await order({ item: "milk" }, { scope }),
        ];
        await client.query(last);
        client.release();
        return told;
      };
      expect(await inOne(end)).toEqual(["tea", "milk"]);
      expect(await orders()).toBe(end === "COMMIT" ? 2 : 0);
      expect(await inOne("COMMIT")).toEqual(["tea", "milk"]);
      expect(await orders()).toBe(2);
    },
  );

  test("is not looked for by others before its transaction has ended", async () => {
    const readings: boolean[] = [];
    const client = await pool.connect();
    await client.query("BEGIN");
    const order = hf.enlist(client).tool({
      name: "order_read",
      kind: "write",
      run: async (_: { item: string }) => "made",
      readState: () => {
        readings.push(true);
        return absent();
      },
    });
    expect(await order({ item: "tea" }, { scope: randomUUID() })).toBe("made");
    await client.query("COMMIT");
    client.release();
    await hf.close();
    expect(readings).toEqual([]);
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

  test("that throws after its INSERT books nothing, also if the caller catches and commits, three times", async () => {
    const scope = randomUUID();
    const failing = () => Promise.reject(new Error("no such seat"));
    for (let turn = 0; turn < 3; turn += 1) {
      const outcome = await inTransaction(scope, "COMMIT", failing);
      expect(outcome).toMatchObject({ status: "not_applied", reason: "not_sent" });
      // Known at once, and true: no transaction has to end first.
      expect((await hf.operations.list({ scope })).items[0]?.status).toBe("not_applied");
      expect(await orders()).toBe(0);
    }
    expect(await inTransaction(scope, "COMMIT")).toMatchObject({ status: "committed" });
    expect(await orders()).toBe(1);
  });

  test("that is not over in time books nothing, also if the caller commits", async () => {
    const scope = randomUUID();
    const steps = new EventEmitter();
    const over = once(steps, "over");
    const outcome = await inTransaction(scope, "COMMIT", () => over, 1_000);
    expect(outcome.status).not.toBe("committed");
    steps.emit("over");
    expect(await orders()).toBe(0);
  });

  test("is told in time, also while a statement that it has left behind still runs", async () => {
    const impatient = createHoldfire({
      store,
      witness: memoryWitness(),
      retry: { storeTimeoutMs: 200, leaseMs: 1_100 },
    });
    const client = await pool.connect();
    await client.query("BEGIN");
    const slow = impatient.enlist(client).tool({
      name: "order_slowly",
      kind: "write",
      attemptTimeoutMs: 200,
      deadlineMs: 400,
      run: async ({ item }: { item: string }) => {
        await client.query(`INSERT INTO ${schema}.orders VALUES ($1)`, [item]);
        await client.query("SELECT pg_sleep(4)");
      },
    });
    const startedAt = performance.now();
    const scope = randomUUID();
    const outcome = await slow.outcome({ item: "tea" }, { scope });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    expect(outcome).toMatchObject({ status: "in_progress", recorded: false });
    // Nothing is written of it before its transaction cannot be committed.
    expect((await hf.operations.list({ scope })).items).toMatchObject([{ status: "claimed" }]);
    expect(await client.query("COMMIT")).toMatchObject({ command: "ROLLBACK" });
    client.release();
    const items = async () => (await hf.operations.list({ scope })).items;
    await vi.waitFor(
      async () => expect(await items()).toMatchObject([{ status: "unknown" }]),
      5_000,
    );
    expect(await orders()).toBe(0);
  });

  test("that failed can be left behind by a savepoint of the caller's, with all that it did", async () => {
    const client = await pool.connect();
    const book = (item: string, ends: () => Promise<unknown>) =>
      hf.enlist(client).run({
        name: "order",
        kind: "write",
        scope: randomUUID(),
        args: { item },
        run: async () => {
          await client.query(`INSERT INTO ${schema}.orders VALUES ($1)`, [item]);
          await ends();
        },
      });
    await client.query("BEGIN");
    await client.query("SAVEPOINT before");
    const failing = book("tea", () => Promise.reject(new Error("sold out")));
    await expect(failing).rejects.toMatchObject({ code: "ERR_HOLDFIRE_NOT_APPLIED" });
    await client.query("ROLLBACK TO before");
    await book("milk", async () => {});
    await client.query("COMMIT");
    client.release();
    const { rows } = await pool.query(`SELECT item FROM ${schema}.orders`);
    expect(rows).toEqual([{ item: "milk" }]);
  });

  test("that another owner has taken over cannot be committed", async () => {
    const scope = randomUUID();
    const takeOver = async () => {
      const [operation] = (await hf.operations.list({ scope })).items;
      const at = { tenant: "default", id: operation?.id ?? "" };
      const { record, version } = await mustRead(store, at.tenant, at.id);
      const heir = { ...record, epoch: record.epoch + 1 };
      await mustSwap(store, { ...at, expect: version, record: heir, lease: 60_000 });
    };
    const ending = inTransaction(scope, "COMMIT", takeOver);
    await expect(ending).rejects.toMatchObject({ code: "ERR_HOLDFIRE_LEASE_LOST" });
    expect(await orders()).toBe(0);
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
