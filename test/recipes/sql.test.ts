import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { InvalidInputError } from "../../src/errors.ts";
import { type SqlOptions, sqlInsert } from "../../src/recipes/sql.ts";
import { findScratch } from "../servers/postgres.ts";
import type { Loss } from "./fake-service.ts";
import { recipeContract } from "./recipe-contract.ts";
import { openStage } from "./stage.ts";

const COLUMNS = ["payee", "cents"];
const ARGS = { payee: "ana", cents: 4_000 };
const CREATE = `idempotency_key text UNIQUE, payee text NOT NULL, cents integer CHECK (cents > 0)`;

type Query = SqlOptions["query"];

/** Loses statements and answers between the tool and the database. */
function lossy(query: Query) {
  const losses: Loss[] = [];
  const writes: string[] = [];
  let broken = false;
  const lost = () => Object.assign(new Error("Connection terminated."), { code: "ECONNRESET" });
  const through: Query = async (text, values) => {
    if (text.startsWith("SELECT")) {
      if (broken) throw lost();
      return query(text, values);
    }
    writes.push(text);
    const loss = losses.shift();
    if (loss === "before") throw lost();
    const rows = await query(text, values);
    if (loss === "twice") await query(text, values);
    if (loss) throw lost();
    return rows;
  };
  const failReads = () => {
    broken = true;
  };
  return { query: through, writes, lose: (loss: Loss) => void losses.push(loss), failReads };
}

interface Table {
  readonly query: Query;
  readonly count: () => Promise<number>;
}

function sqliteTable(): Table {
  const db = new DatabaseSync(":memory:");
  onTestFinished(() => db.close());
  db.exec(`CREATE TABLE payouts (${CREATE})`);
  const query: Query = (text, values) =>
    db.prepare(text).all(...values.map((value) => (typeof value === "boolean" ? +value : value)));
  return { query, count: async () => db.prepare("SELECT * FROM payouts").all().length };
}

const scratch = await findScratch();
afterAll(() => scratch?.drop());
let tables = 0;

async function postgresTable(name: string): Promise<Table> {
  const { pool, schema } = scratch as NonNullable<typeof scratch>;
  await pool.query(`CREATE TABLE "${schema}"."${name}" (${CREATE})`);
  const query: Query = async (text, values) => (await pool.query(text, [...values])).rows;
  return {
    query,
    count: async () => (await query(`SELECT * FROM "${schema}"."${name}"`, [])).length,
  };
}

const DATABASES = [
  ["node:sqlite", "sqlite", async () => ({ table: "payouts", ...sqliteTable() })],
  ...(scratch
    ? ([
        [
          "Postgres",
          "postgres",
          async () => {
            tables += 1;
            const name = `payouts_${tables}`;
            return { table: `${scratch.schema}.${name}`, ...(await postgresTable(name)) };
          },
        ],
      ] as const)
    : []),
] as const;

describe.each(DATABASES)("on %s", (_, dialect, openTable) => {
  const open = async () => {
    const { table, query, count } = await openTable();
    const fake = lossy(query);
    let effects = 0;
    const counted: Query = async (text, values) => {
      try {
        return await fake.query(text, values);
      } finally {
        effects = await count();
      }
    };
    const definition = sqlInsert({ table, columns: COLUMNS, dialect, query: counted });
    return { fake, definition, args: ARGS, effects: () => effects, count, query, table };
  };

  recipeContract("sqlInsert", { licence: "keyed", open });

  test("rows without a key, and of other keys, are not taken for ours", async () => {
    const { fake, definition, query, count, table } = await open();
    const target = table
      .split(".")
      .map((part) => `"${part}"`)
      .join(".");
    await query(`INSERT INTO ${target} (payee, cents) VALUES ('ana', 4000)`, []);
    const stage = openStage();
    fake.lose("before");
    expect(await stage.call(stage.tool(definition), ARGS)).toMatchObject({ attempts: 2 });
    expect(await count()).toBe(2);
  });

  test("a resend that meets the first row gives the first row", async () => {
    const { fake, definition, count } = await open();
    const { readState: _, ...keyedOnly } = definition;
    const stage = openStage();
    fake.lose("after");
    const outcome = await stage.call(stage.tool(keyedOnly), ARGS);
    expect(outcome).toMatchObject({
      status: "committed",
      attempts: 2,
      licence: "keyed",
      result: ARGS,
    });
    expect(await count()).toBe(1);
  });

  test.each([{ payee: "ana", cents: -1 }, { cents: 1 }])(
    "a broken constraint is a no: %j",
    async (args) => {
      const { definition, count, fake } = await open();
      const stage = openStage();
      const outcome = await stage.call(stage.tool(definition), args);
      expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 1 });
      expect([await count(), fake.writes.length]).toEqual([0, 1]);
    },
  );

  test("words of the model are values, and name no column", async () => {
    const { definition, count } = await open();
    const stage = openStage();
    const tool = stage.tool(definition);
    const payee = "'; DROP TABLE payouts; --";
    expect(await stage.call(tool, { payee, cents: 1 })).toMatchObject({ result: { payee } });
    expect(await count()).toBe(1);
    await expect(stage.call(tool, { ...ARGS, idempotency_key: "mine" })).rejects.toBeInstanceOf(
      InvalidInputError,
    );
    expect(await count()).toBe(1);
  });
});

test("names are quoted, and must be names", async () => {
  const seen: string[] = [];
  const query: Query = (text) => {
    seen.push(text);
    return [{}];
  };
  const options = { columns: ['a"b'], dialect: "sqlite", query } as const;
  const context = {
    key: "k",
    precondition: undefined,
    fetch: globalThis.fetch,
    attempt: 1,
    signal: AbortSignal.abort(),
  };
  await sqlInsert({ ...options, table: 'x"; DROP' }).run({}, context);
  expect(seen[0]).toContain('INSERT INTO "x""; DROP" ("idempotency_key", "a""b")');
  expect(() => sqlInsert({ ...options, table: "x." })).toThrow(InvalidInputError);
});
