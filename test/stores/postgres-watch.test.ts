import pg from "pg";
import postgres from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type PostgresPoolLike,
  type PostgresStore,
  postgresStore,
} from "../../src/stores/postgres/index.ts";
import { keyOf } from "../../src/stores/postgres/row.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { findScratch, type Scratch } from "../servers/postgres.ts";

const POLL_MS = 5;

const scratch = await findScratch();
if (scratch) testWatching(scratch);
else test.skip("watching, on Postgres");

/** Counts calls, and lets a test wait for the next. */
function counter() {
  let calls = 0;
  let wake = () => {};
  return {
    calls: () => calls,
    call: () => {
      calls += 1;
      wake();
    },
    /** Returns once there were more than so many. */
    async beyond(count: number): Promise<void> {
      while (calls <= count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}

function testWatching({ url, schema, pool, drop }: Scratch): void {
  let writer: PostgresStore;
  let version = 0;

  beforeAll(() => postgresStore({ pool, schema }).migrate());
  afterAll(drop);
  beforeEach(async () => {
    await pool.query(`DELETE FROM "${schema}".holdfire_operations`);
    await pool.query(`DELETE FROM "${schema}".holdfire_watches`);
    writer = postgresStore({ pool, schema });
    ({ version } = await mustSwap(writer, create(recordOf())));
  });
  afterEach(() => writer.close());

  /** Until then a change elsewhere may be missed; callers poll as well. */
  async function registered(id: string): Promise<void> {
    const text = `SELECT 1 FROM "${schema}".holdfire_watches WHERE key = $1`;
    while ((await pool.query(text, [keyOf("acme", id)])).rowCount === 0) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  const change = async (): Promise<void> => {
    ({ version } = await mustSwap(writer, { ...create(recordOf()), expect: version }));
  };

  const listeners = async (): Promise<number[]> => {
    const text = `SELECT pid FROM pg_stat_activity WHERE query ILIKE 'listen%' AND application_name = $1`;
    return (await pool.query<{ pid: number }>(text, [schema])).rows.map(({ pid }) => pid);
  };

  const clients: Record<string, () => { own: PostgresPoolLike; end: () => Promise<void> }> = {
    pg: () => {
      const own = new pg.Pool({ connectionString: url, max: 2, application_name: schema });
      return { own, end: () => own.end() };
    },
    "postgres.js": () => {
      const connection = { application_name: schema };
      const own = postgres(url, { max: 2, onnotice: () => {}, connection });
      return { own, end: () => own.end() };
    },
  };

  describe.each(Object.entries(clients))("through %s", (_, make) => {
    let reader: PostgresStore;
    let end = async () => {};
    beforeEach(() => {
      const made = make();
      end = made.end;
      reader = postgresStore({ pool: made.own, schema });
    });
    // The pool ends only when the connection that listened was given back.
    afterEach(async () => {
      await reader.close();
      await end();
    });

    test("a change made through another pool is heard", async () => {
      const heard = counter();
      reader.watch?.("acme", "operation-1", heard.call);
      await registered("operation-1");
      for (let round = 0; round < 3; round += 1) {
        const before = heard.calls();
        await change();
        await heard.beyond(before);
      }
    });

    test("a removal is heard", async () => {
      const heard = counter();
      reader.watch?.("acme", "operation-1", heard.call);
      await registered("operation-1");
      const before = heard.calls();
      await mustSwap(writer, { ...create(recordOf()), expect: version, record: undefined });
      await heard.beyond(before);
    });

    test("a change between the question and the answer is made up for by a call", async () => {
      const heard = counter();
      reader.watch?.("acme", "operation-1", heard.call);
      await change();
      await heard.beyond(0);
    });

    test("when the connection is lost its watchers are called, and the next ones are heard again", async () => {
      const heard = counter();
      reader.watch?.("acme", "operation-1", heard.call);
      await registered("operation-1");
      const before = heard.calls();
      const [pid] = await listeners();
      await pool.query("SELECT pg_terminate_backend($1)", [pid]);
      await heard.beyond(before);

      const again = counter();
      const stop = reader.watch?.("acme", "operation-1", again.call);
      while ((await listeners()).filter((each) => each !== pid).length === 0);
      const calls = again.calls();
      await change();
      await again.beyond(calls);
      stop?.();
    });
  });

  test("only what somebody watches is announced", async () => {
    const { id } = await writer.open();
    const client = new pg.Client(url);
    await client.connect();
    const payloads: (string | undefined)[] = [];
    const heard = counter();
    client.on("notification", ({ payload }) => {
      payloads.push(payload);
      heard.call();
    });
    await client.query(`LISTEN "holdfire_${id.replaceAll("-", "")}"`);
    const other = await mustSwap(writer, create(recordOf({ id: "operation-2" })));
    await mustSwap(writer, { ...create(recordOf({ id: "operation-2" })), expect: other.version });

    const watching = postgresStore({ pool, schema });
    watching.watch?.("acme", "operation-1", () => {});
    await registered("operation-1");
    await change();
    await heard.beyond(0);
    expect(payloads).toEqual([keyOf("acme", "operation-1")]);
    await watching.close();
    await client.end();
  });

  test("a pool of one keeps its connection for the writes, and its own changes are heard", async () => {
    const own = new pg.Pool({ connectionString: url, max: 1, application_name: schema });
    const store = postgresStore({ pool: own, schema });
    const heard = counter();
    store.watch?.("acme", "operation-1", heard.call);
    await mustSwap(store, { ...create(recordOf()), expect: version });
    expect(heard.calls()).toBe(1);
    expect(await listeners()).toEqual([]);
    await store.close();
    await own.end();
  });

  test("`notify: false` leaves watching to polls, and announces nothing", () => {
    expect(postgresStore({ pool, schema, notify: false }).watch).toBeUndefined();
  });
}
