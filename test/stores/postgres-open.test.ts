import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/errors.ts";
import { migrationSql, postgresStore } from "../../src/stores/postgres/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";
import {
  canStartPostgres,
  findScratch,
  type PostgresServer,
  type Scratch,
  startPostgres,
} from "../servers/postgres.ts";

const HOSTILE = [
  `x"; DROP TABLE t;--`,
  "",
  "Upper",
  "1st",
  "a-b",
  "a.b",
  "ü",
  "a\nb",
  "x".repeat(42),
  7,
  null,
] as const;

/** Fails the test if it is asked anything. */
const untouched = {
  query: () => Promise.reject(new Error("A query was made.")),
  connect: () => Promise.reject(new Error("A connection was made.")),
};

describe("the names of the tables", () => {
  test.each(HOSTILE)("%j is refused before anything is asked", (name) => {
    for (const options of [{ schema: name }, { table: name }]) {
      const hostile = options as { schema?: string; table?: string };
      expect(() => postgresStore({ pool: untouched, ...hostile })).toThrow(/lower-case letters/);
      expect(() => migrationSql(hostile)).toThrow(/lower-case letters/);
    }
  });

  test("are in the printed SQL, quoted", () => {
    const sql = migrationSql({ schema: "user", table: "order" });
    expect(sql).toContain('CREATE TABLE IF NOT EXISTS "user"."order_operations"');
    expect(sql).toMatch(/^BEGIN;/);
    expect(sql).toMatch(/COMMIT;\n$/);
  });

  test("of the default are those of the first schema in the search path", () => {
    expect(migrationSql()).toContain('CREATE TABLE IF NOT EXISTS "holdfire_operations"');
  });
});

test("what is neither pg nor postgres.js is refused", () => {
  for (const pool of [{}, () => {}, { query: () => {} }, undefined, "postgres://"]) {
    expect(() => postgresStore({ pool: pool as never })).toThrow(/must be a Pool of pg/);
  }
});

const scratch = await findScratch();
if (scratch) testOpening(scratch);
else test.skip("opening, on Postgres");

function testOpening({ url, schema, pool, drop }: Scratch): void {
  let made = 0;
  let table = "";
  beforeEach(() => {
    made += 1;
    table = `case_${made}`;
  });
  afterAll(drop);

  const ofCase = () => ({ pool, schema, table });
  const columns = async (): Promise<unknown> => {
    const text = `SELECT table_name, column_name, data_type FROM information_schema.columns
      WHERE table_schema = $1 AND table_name LIKE $2 ORDER BY 1, 2`;
    return (await pool.query(text, [schema, `${table}_%`])).rows;
  };

  describe("without its tables", () => {
    test("opening says what to run", async () => {
      const opening = postgresStore(ofCase()).open();
      await expect(opening).rejects.toMatchObject({ code: "ERR_HOLDFIRE_INVALID_INPUT" });
      await expect(opening).rejects.toThrow(/store\.migrate\(\).*migrationSql\(\)/);
    });

    test("every other call says so, too, and works once they are there", async () => {
      const store = postgresStore(ofCase());
      await expect(store.read("acme", "1")).rejects.toThrow(/migrate/);
      await expect(store.swap(create(recordOf()))).rejects.toThrow(/migrate/);
      await store.migrate();
      await mustSwap(store, create(recordOf()));
      await store.close();
    });

    test("`migrate: true` makes them", async () => {
      const store = postgresStore({ ...ofCase(), migrate: true });
      expect((await store.open()).sequence).toBe(0);
      await store.close();
    });
  });

  test("migrating again changes nothing, and keeps what is there", async () => {
    const store = postgresStore({ ...ofCase(), migrate: true });
    const { id } = await store.open();
    await mustSwap(store, create(recordOf()));
    const before = await columns();
    await store.migrate();
    expect(await columns()).toEqual(before);
    expect((await store.open()).id).toBe(id);
    expect((await store.read("acme", "operation-1")).stored?.record).toEqual(recordOf());
    await store.close();
  });

  test("many who migrate at once make one ledger", async () => {
    const stores = Array.from({ length: 8 }, () => postgresStore({ ...ofCase(), migrate: true }));
    const ids = await Promise.all(stores.map(async (store) => (await store.open()).id));
    expect(new Set(ids).size).toBe(1);
    await Promise.all(stores.map((store) => store.close()));
  });

  test("the printed SQL makes the same tables as migrate, and may be run twice", async () => {
    const printed = migrationSql({ schema, table });
    await pool.query(printed);
    await pool.query(printed);
    const byHand = await columns();
    await pool.query(`DROP TABLE "${schema}"."${table}_operations"`);
    await postgresStore(ofCase()).migrate();
    expect(await columns()).toEqual(byHand);
    const { rows } = await pool.query(`SELECT * FROM "${schema}"."${table}_ledger"`);
    expect(rows).toHaveLength(1);
  });

  test("a schema that is not there is made", async () => {
    const own = { pool, schema: `${schema}_own`, migrate: true };
    try {
      await expect(postgresStore({ ...own, migrate: false }).open()).rejects.toThrow(/migrate/);
      await postgresStore(own).open();
    } finally {
      await pool.query(`DROP SCHEMA IF EXISTS "${own.schema}" CASCADE`);
    }
  });

  test("without a schema the search path finds the tables, and nothing leads elsewhere later", async () => {
    await postgresStore(ofCase()).migrate();
    const client = new pg.Pool({ connectionString: url, max: 1 });
    await client.query(`SET search_path TO "${schema}"`);
    const store = postgresStore({ pool: client, table });
    const { id } = await store.open();
    await client.query("SET search_path TO pg_catalog");
    await mustSwap(store, create(recordOf()));
    expect((await store.open()).id).toBe(id);
    await store.close();
    await client.end();
  });

  test("tables of a newer holdfire are refused", async () => {
    await postgresStore(ofCase()).migrate();
    await pool.query(`UPDATE "${schema}"."${table}_ledger" SET layout = 99`);
    await expect(postgresStore(ofCase()).open()).rejects.toThrow(/newer holdfire/);
  });

  test("a ledger whose keys are not unique is refused", async () => {
    await postgresStore(ofCase()).migrate();
    await pool.query(
      `ALTER TABLE "${schema}"."${table}_operations" DROP CONSTRAINT "${table}_operations_pkey"`,
    );
    await expect(postgresStore(ofCase()).open()).rejects.toThrow(/unique index/);
  });

  test("an older copy put back has the same id and a lower sequence", async () => {
    const store = postgresStore({ ...ofCase(), migrate: true });
    const copy = await store.open();
    await mustSwap(store, create(recordOf()));
    const later = await store.open();
    await pool.query(`SELECT setval('"${schema}"."${table}_sequence"', 1, false)`);
    await pool.query(`DELETE FROM "${schema}"."${table}_operations"`);
    const restored = await postgresStore(ofCase()).open();
    expect(restored.id).toBe(copy.id);
    expect(restored.sequence).toBeLessThan(later.sequence);
    await store.close();
  });

  describe("what it survives", () => {
    const promiseWith = async (options: string, forgets?: "accepted") => {
      const own = new pg.Pool({ connectionString: url, max: 2, options });
      const store = postgresStore({ pool: own, schema, table, migrate: true, forgets });
      await store.open();
      await store.close();
      await own.end();
      return store.promise;
    };

    test("is unknown, and counts as nothing, until it is open", () => {
      expect(postgresStore(ofCase()).promise).toMatchObject({ survives: "nothing" });
    });

    test.each(["on", "local"])("is the host with synchronous_commit %s", async (setting) => {
      const promise = await promiseWith(`-c synchronous_commit=${setting}`);
      expect(promise).toMatchObject({ survives: "host", mayForget: false });
    });

    test("is the process with synchronous_commit off, and whether that was accepted", async () => {
      const promise = await promiseWith("-c synchronous_commit=off");
      expect(promise).toMatchObject({ survives: "process", mayForget: true });
      expect(promise.forgettingAccepted).toBe(false);
      expect(promise.text).toContain("synchronous_commit");
      const accepted = await promiseWith("-c synchronous_commit=off", "accepted");
      expect(accepted.forgettingAccepted).toBe(true);
    });

    test("is the process when the tables are not logged", async () => {
      await postgresStore(ofCase()).migrate();
      await pool.query(`ALTER TABLE "${schema}"."${table}_operations" SET UNLOGGED`);
      const promise = await promiseWith("");
      expect(promise).toMatchObject({ survives: "process", mayForget: true });
    });
  });

  describe("a pool that was ended", () => {
    const ended = {
      pg: async () => {
        const own = new pg.Pool({ connectionString: url, max: 1 });
        const store = postgresStore({ pool: own, schema, table });
        await store.open();
        await own.end();
        return store;
      },
      "postgres.js": async () => {
        const sql = postgres(url, { max: 1, onnotice: () => {} });
        const store = postgresStore({ pool: sql, schema, table });
        await store.open();
        await sql.end();
        return store;
      },
    };
    test.each(Object.entries(ended))("of %s is a clear rejection", async (_, make) => {
      await postgresStore(ofCase()).migrate();
      const store = await make();
      for (const call of [
        () => store.open(),
        () => store.read("acme", "1"),
        () => store.swap(create(recordOf())),
        () => store.list({ tenant: "acme" }),
      ]) {
        const error: unknown = await call().catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(StoreUnavailableError);
        expect((error as StoreUnavailableError).cause).toBeInstanceOf(Error);
      }
      await store.close();
    });
  });
}

describe.runIf(await canStartPostgres())("a server of its own", () => {
  const using = async (server: PostgresServer, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } finally {
      await server.stop();
    }
  };

  test("in recovery is refused as a replica", async () => {
    const standby = await startPostgres({ isStandby: true });
    await using(standby, async () => {
      const pool = new pg.Pool({ connectionString: standby.url, max: 1 });
      await expect(postgresStore({ pool }).open()).rejects.toThrow(/replica/);
      await pool.end();
    });
  });

  test("with a synchronous standby survives the loss of its host; without fsync it may forget", async () => {
    const server = await startPostgres({ settings: ["-c", "synchronous_standby_names=other"] });
    await using(server, async () => {
      // There is no such standby, so only a commit that does not wait for it comes back.
      const options = "-c synchronous_commit=local";
      const local = new pg.Pool({ connectionString: server.url, max: 1, options });
      await postgresStore({ pool: local }).migrate();
      const pool = new pg.Pool({ connectionString: server.url, max: 1 });
      const store = postgresStore({ pool });
      await store.open();
      expect(store.promise).toMatchObject({ survives: "host_loss", mayForget: false });

      await pool.query("ALTER SYSTEM SET fsync = off");
      await pool.query("SELECT pg_reload_conf()");
      while ((await pool.query<{ fsync: string }>("SHOW fsync")).rows[0]?.fsync !== "off");
      const reopened = postgresStore({ pool });
      await reopened.open();
      expect(reopened.promise).toMatchObject({ survives: "process", mayForget: true });
      expect(reopened.promise.text).toContain("fsync");
      await local.end();
      await pool.end();
    });
  });
});
