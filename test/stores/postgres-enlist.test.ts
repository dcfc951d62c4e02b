import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Change } from "../../src/ledger/store.ts";
import {
  type PostgresStore,
  type PostgresTransactionLike,
  postgresStore,
} from "../../src/stores/postgres/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { findScratch, type Scratch } from "../servers/postgres.ts";

const CHILD = fileURLToPath(new URL("postgres-enlist.child.ts", import.meta.url));
const SETTLED = recordOf({ state: { tag: "committed", via: "reply", attempt: 1 } });

const scratch = await findScratch();
if (scratch) testEnlisting(scratch);
else test.skip("enlisting, on Postgres");

function testEnlisting({ url, schema, pool, drop }: Scratch): void {
  const business = `"${schema}".business`;
  const sql = postgres(url, { max: 4, onnotice: () => {} });
  let store: PostgresStore;

  beforeAll(async () => {
    await postgresStore({ pool, schema }).migrate();
    await pool.query(`CREATE TABLE ${business} (id text PRIMARY KEY)`);
  });
  afterAll(async () => {
    await sql.end();
    await drop();
  });
  beforeEach(async () => {
    await pool.query(`DELETE FROM "${schema}".holdfire_operations`);
    await pool.query(`DELETE FROM "${schema}".holdfire_effects`);
    await pool.query(`DELETE FROM ${business}`);
    store = postgresStore({ pool, schema });
  });
  afterEach(() => store.close());

  const claim: Change = { ...create(recordOf()), lease: 60_000 };
  const settle = (expect: number): Change => ({ ...create(SETTLED), expect });
  const tagNow = async () => (await mustRead(store, "acme", "operation-1")).record.state.tag;
  const businessRows = async () => (await pool.query(`SELECT id FROM ${business}`)).rows.length;

  /** Runs `work` in a transaction that is rolled back if it throws. */
  type InTransaction = (
    work: (tx: PostgresTransactionLike, insert: () => Promise<unknown>) => Promise<void>,
  ) => Promise<void>;

  const clients: Record<string, InTransaction> = {
    async pg(work) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        await work(client, () => client.query(`INSERT INTO ${business} VALUES ('row-1')`));
        await client.query("COMMIT");
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },
    async "postgres.js"(work) {
      await sql.begin((tx) =>
        work(tx, async () => tx.unsafe(`INSERT INTO ${business} VALUES ('row-1')`)),
      );
    },
  };

  describe.each(Object.entries(clients))("a transaction of %s", (_, inTransaction) => {
    test("commits the effect and its record together; the claim was there before", async () => {
      await inTransaction(async (tx, insert) => {
        const enlisted = store.enlist(tx);
        await enlisted.open();
        const { version } = await mustSwap(enlisted, claim);
        expect(await tagNow()).toBe("claimed");
        await insert();
        await mustSwap(enlisted, settle(version));
        expect(await tagNow()).toBe("claimed");
        expect(await businessRows()).toBe(0);
      });
      expect(await tagNow()).toBe("committed");
      expect(await businessRows()).toBe(1);
    });

    test("that is rolled back leaves neither, and the claim stands", async () => {
      const failing = inTransaction(async (tx, insert) => {
        const enlisted = store.enlist(tx);
        const { version } = await mustSwap(enlisted, claim);
        await insert();
        await enlisted.own("acme", "payments", "re_1", "operation-1");
        await mustSwap(enlisted, settle(version));
        throw new Error("the caller's own");
      });
      await expect(failing).rejects.toThrow("the caller's own");
      expect(await tagNow()).toBe("claimed");
      expect(await businessRows()).toBe(0);
      expect(await store.ownerOf("acme", "payments", "re_1")).toBeUndefined();
    });

    test("is refused its settle when another has taken the operation over, and cannot commit", async () => {
      const ending = inTransaction(async (tx, insert) => {
        const enlisted = store.enlist(tx);
        const { version } = await mustSwap(enlisted, claim);
        await insert();
        const heir = recordOf({ epoch: 2, state: { tag: "claimed", holder: "heir" } });
        await mustSwap(store, { ...create(heir), expect: version, lease: 60_000 });
        const refused = await enlisted.swap(settle(version));
        expect(refused).toMatchObject({ ok: false, current: { record: { epoch: 2 } } });
      });
      // COMMIT does not fail in pg, it rolls back.
      await ending.catch(() => {});
      expect(await tagNow()).toBe("claimed");
      expect(await businessRows()).toBe(0);
    });

    test("whose record was only touched is refused, and can settle on what it is told", async () => {
      await inTransaction(async (tx, insert) => {
        const enlisted = store.enlist(tx);
        const { version } = await mustSwap(enlisted, claim);
        await insert();
        await mustSwap(store, { ...create(recordOf({ aliases: ["met"] })), expect: version });
        const refused = await enlisted.swap(settle(version));
        const current = "current" in refused ? refused.current : undefined;
        expect(current?.record.aliases).toEqual(["met"]);
        await mustSwap(enlisted, settle(current?.version ?? 0));
      });
      expect(await tagNow()).toBe("committed");
      expect(await businessRows()).toBe(1);
    });

    test("that has settled is waited for by who would take the operation over", async () => {
      let takeover: ReturnType<PostgresStore["swap"]> | undefined;
      await inTransaction(async (tx) => {
        const enlisted = store.enlist(tx);
        const { version } = await mustSwap(enlisted, claim);
        await mustSwap(enlisted, settle(version));
        takeover = store.swap({
          ...create(recordOf({ epoch: 2 })),
          expect: version,
          lease: 60_000,
        });
        // The store goes on meanwhile.
        await mustSwap(store, create(recordOf({ id: "operation-2" })));
      });
      expect(await takeover).toMatchObject({ ok: false, current: { record: SETTLED } });
    });

    test("sees notes and renewals as everybody does: they are not part of it", async () => {
      const failing = inTransaction(async (tx) => {
        const enlisted = store.enlist(tx);
        const { version } = await mustSwap(enlisted, claim);
        await mustSwap(enlisted, { ...claim, expect: version, lease: 120_000 });
        throw new Error("the caller's own");
      });
      await expect(failing).rejects.toThrow("the caller's own");
      const { leaseUntil = 0 } = await mustRead(store, "acme", "operation-1");
      expect(leaseUntil - (await store.open()).now).toBeGreaterThan(60_000);
    });
  });

  test("a settle or an effect that comes after the end of its transaction is refused, also within the next", async () => {
    const client = await pool.connect();
    await client.query("BEGIN");
    const enlisted = store.enlist(client);
    const { version } = await mustSwap(enlisted, claim);
    await client.query("ROLLBACK");
    for (const begin of ["SELECT 1", "BEGIN"]) {
      await client.query(begin);
      await expect(enlisted.swap(settle(version))).rejects.toThrow(/has ended/);
      await expect(enlisted.own("acme", "payments", "re_1", "operation-1")).rejects.toThrow(
        /has ended/,
      );
    }
    await client.query("COMMIT");
    client.release();
    expect(await tagNow()).toBe("claimed");
    expect(await store.ownerOf("acme", "payments", "re_1")).toBeUndefined();
  });

  describe("what is not such a transaction is refused by open, before anything is claimed", () => {
    test("a client of pg without BEGIN", async () => {
      const client = await pool.connect();
      await expect(store.enlist(client).open()).rejects.toThrow(/BEGIN first/);
      client.release();
    });

    test("the sql of postgres.js outside of begin", async () => {
      await expect(store.enlist(sql).open()).rejects.toThrow(/BEGIN first/);
    });

    test.each(["REPEATABLE READ", "SERIALIZABLE"])("one that is %s", async (level) => {
      const client = await pool.connect();
      await client.query(`BEGIN ISOLATION LEVEL ${level}`);
      await expect(store.enlist(client).open()).rejects.toThrow(/READ COMMITTED/);
      await client.query("ROLLBACK");
      client.release();
    });

    test("one on another database", async () => {
      const elsewhere = new URL(url);
      elsewhere.pathname = "/template1";
      const client = new pg.Client(elsewhere.href);
      await client.connect();
      await client.query("BEGIN");
      await expect(store.enlist(client).open()).rejects.toMatchObject({
        code: "ERR_HOLDFIRE_INVALID_INPUT",
      });
      await client.end();
    });

    test("what is no client at all", () => {
      expect(() => store.enlist({} as never)).toThrow(/client of pg in a transaction/);
    });
  });

  test("who waits is told after COMMIT, not before", async () => {
    const { version } = await mustSwap(store, claim);
    await mustSwap(store, create(recordOf({ id: "operation-2" })));
    const listener = new pg.Client(url);
    await listener.connect();
    const heard: string[] = [];
    let wake = () => {};
    listener.on("notification", ({ payload = "" }) => {
      heard.push(payload);
      wake();
    });
    const next = () =>
      new Promise<void>((resolve) => {
        wake = resolve;
      });
    const { id } = await store.open();
    await listener.query(`LISTEN "holdfire_${id.replaceAll("-", "")}"`);
    const watches = `"${schema}".holdfire_watches`;
    await pool.query(`DELETE FROM ${watches}`);
    await pool.query(
      `INSERT INTO ${watches} SELECT key, 9e15::int8 FROM "${schema}".holdfire_operations`,
    );

    const client = await pool.connect();
    await client.query("BEGIN");
    await mustSwap(store.enlist(client), settle(version));
    // Heard after the settle was made: had that been told, it would have come first.
    const other = (await mustRead(store, "acme", "operation-2")).version;
    const first = next();
    await mustSwap(store, { ...create(recordOf({ id: "operation-2" })), expect: other });
    await first;
    expect(heard).toHaveLength(1);
    const second = next();
    await client.query("COMMIT");
    client.release();
    await second;
    expect(heard).toHaveLength(2);
    expect(new Set(heard).size).toBe(2);
    await listener.end();
  });

  describe("a process that is killed with SIGKILL", () => {
    /** Runs the child until it says where it is, and kills it there. */
    async function killAt(where: string): Promise<void> {
      const child = spawn(process.execPath, [CHILD, url, schema, where], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const [line] = await once(createInterface({ input: child.stdout }), "line");
      expect(line).toBe(where);
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      expect((await exit)[1]).toBe("SIGKILL");
      // The server notices that its client is gone, and ends what it left open.
      const text = "SELECT 1 FROM pg_stat_activity WHERE application_name = $1";
      while ((await pool.query(text, [`${schema} child`])).rowCount !== 0);
    }

    test("before COMMIT leaves neither the effect nor its record, and the claim stands", async () => {
      await killAt("settled");
      expect(await businessRows()).toBe(0);
      expect(await tagNow()).toBe("claimed");
    });

    test("after COMMIT leaves both", async () => {
      await killAt("committed");
      expect(await businessRows()).toBe(1);
      expect(await tagNow()).toBe("committed");
    });
  });
}
