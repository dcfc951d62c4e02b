import { afterAll, expect, test } from "vitest";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { listRecords } from "../../src/stores/postgres/list.ts";
import { tablesAt } from "../../src/stores/postgres/schema.ts";
import { findScratch } from "../servers/postgres.ts";

const scratch = await findScratch();
afterAll(() => scratch?.drop());

test.skipIf(!scratch)(
  "a list of one scope goes by the index of scopes, also before Postgres has analyzed the table",
  async () => {
    if (!scratch) return;
    const { pool, schema } = scratch;
    const store = postgresStore({ pool, schema });
    await store.migrate();
    const { operations } = tablesAt({ schema, table: "holdfire" });
    await pool.query(
      `INSERT INTO ${operations}
         (key, seq, version, phase, state_at, state, tenant, id, tool, scope, record)
       SELECT gen_random_uuid(), n, n, 1, 0, 'committed', 'acme', n, 'pay', 'scope-' || n, '{}'
       FROM generate_series(1, 50000) n`,
    );

    const client = await pool.connect();
    const plan: string[] = [];
    const session = {
      async run({ text }: { readonly text: string }, values: readonly (string | null)[]) {
        const query = { text: `EXPLAIN ${text}`, values: [...values], rowMode: "array" as const };
        plan.push(...(await client.query(query)).rows.map(([line]) => String(line)));
        return [];
      },
    };
    const tables = tablesAt({ schema, table: "holdfire" });
    await listRecords(session, tables, { tenant: "acme", scope: "scope-7" });
    client.release();
    await store.close();
    expect(plan.join("\n")).toContain("holdfire_operations_scope");
    expect(plan.join("\n")).not.toContain("holdfire_operations_phase");
  },
);
