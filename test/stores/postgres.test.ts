import postgres from "postgres";
import { afterAll, beforeAll, test } from "vitest";
import type { Store } from "../../src/ledger/store.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create } from "../../src/testing/store-contract/subject.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { findScratch, type Scratch } from "../servers/postgres.ts";

const scratch = await findScratch();
if (scratch) testContract(scratch);
else test.skip("the contract, on Postgres");

function testContract({ url, schema, pool, drop }: Scratch): void {
  const sql = postgres(url, { max: 6, onnotice: () => {} });

  beforeAll(() => postgresStore({ pool, schema }).migrate());

  afterAll(async () => {
    await sql.end();
    await drop();
  });

  async function onEmptyLedger(store: () => Store): Promise<Store> {
    for (const name of ["operations", "lanes", "effects"]) {
      await pool.query(`DELETE FROM "${schema}"."holdfire_${name}"`);
    }
    return store();
  }

  let bystanders = 0;
  /** Never alone: each swap shares its statement with one that nobody looks at. */
  function inCompany(store: Store): Store {
    return {
      ...store,
      async swap(change) {
        bystanders += 1;
        const bystander = recordOf({ tenant: "bystanders", id: `${bystanders}` });
        const swaps = [store.swap(change), store.swap(create(bystander))] as const;
        return (await Promise.all(swaps))[0];
      },
    };
  }

  const cases = {
    "through pg": () => postgresStore({ pool, schema }),
    "through pg, in batches": () => inCompany(postgresStore({ pool, schema })),
    "through postgres.js": () => postgresStore({ pool: sql, schema }),
    "without prepared statements and notifications": () =>
      postgresStore({ pool, schema, prepare: false, notify: false }),
  };
  for (const [name, store] of Object.entries(cases)) {
    storeContract(`postgres, ${name}`, {
      open: () => onEmptyLedger(store),
      reopen: store,
      clock: "server",
    });
  }
}
