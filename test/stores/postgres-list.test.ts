import { afterAll, expect, test } from "vitest";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { listRecords } from "../../src/stores/postgres/list.ts";
import { tablesAt } from "../../src/stores/postgres/schema.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";
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

test.skipIf(!scratch)("prunes by age, over more than one read", async () => {
  if (!scratch) return;
  const { pool, schema } = scratch;
  const store = postgresStore({ pool, schema, migrate: true });
  const payload = { form: "json", text: '"secret"' } as const;
  const state = { tag: "committed", via: "reply", payload } as const;
  const tenant = "pruned";
  const records = Array.from({ length: 300 }, (_, n) =>
    recordOf({ tenant, id: `${n}`, state, stateAt: 0, createdAt: 0 }),
  );
  await mustSwap(store, create(recordOf({ tenant, id: "open" })));
  await Promise.all(records.map((record) => mustSwap(store, create(record))));
  const payloads = { tenant, payloadsOlderThanMs: 1 };
  expect(await store.prune({ ...payloads, limit: 260 })).toEqual({ payloads: 260, tombstones: 0 });
  expect(await store.prune(payloads)).toEqual({ payloads: 40, tombstones: 0 });
  const tombstones = { tenant, tombstonesOlderThanMs: 1 };
  expect((await store.prune({ ...tombstones, limit: 10 })).tombstones).toBe(10);
  expect((await store.prune(tombstones)).tombstones).toBe(290);
  expect((await store.list({ tenant })).items.map(({ record }) => record.id)).toEqual(["open"]);
  await store.close();
});

test.skipIf(!scratch).each(["since", "until"] as const)(
  "a time that is no number is refused: %s",
  async (name) => {
    if (!scratch) return;
    const { pool, schema } = scratch;
    const store = postgresStore({ pool, schema, migrate: true });
    const listing = store.list({ tenant: "acme", [name]: Number.NaN });
    await expect(listing).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
      path: `query.${name}`,
    });
    const all = { since: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY };
    expect((await store.list({ tenant: "nobody", ...all })).items).toEqual([]);
    await store.close();
  },
);
