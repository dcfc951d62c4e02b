import { randomUUID } from "node:crypto";
import pg from "pg";
import postgres from "postgres";
import { afterAll, beforeAll } from "vitest";
import type { Store } from "../../src/ledger/store.ts";
import { postgresStore } from "../../src/stores/postgres.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { findPostgres } from "../servers/postgres.ts";

const server = await findPostgres();

if (server) {
  const schema = `holdfire_test_${randomUUID().slice(0, 8)}`;
  const pool = new pg.Pool({ connectionString: server.url, max: 6 });
  const sql = postgres(server.url, { max: 6, onnotice: () => {} });

  beforeAll(() => postgresStore({ pool, schema }).migrate());

  afterAll(async () => {
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`);
    await sql.end();
    await pool.end();
    await server.stop();
  });

  async function onEmptyLedger(store: () => Store): Promise<Store> {
    for (const name of ["operations", "lanes", "effects"]) {
      await pool.query(`DELETE FROM "${schema}"."holdfire_${name}"`);
    }
    return store();
  }

  const throughPg = () => postgresStore({ pool, schema });
  storeContract("postgres, through pg", {
    open: () => onEmptyLedger(throughPg),
    reopen: throughPg,
    clock: "server",
  });

  const throughPostgresJs = () => postgresStore({ pool: sql, schema });
  storeContract("postgres, through postgres.js", {
    open: () => onEmptyLedger(throughPostgresJs),
    reopen: throughPostgresJs,
    clock: "server",
  });
}
