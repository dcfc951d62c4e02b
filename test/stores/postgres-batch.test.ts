import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/errors.ts";
import { createBatcher } from "../../src/stores/postgres/batch.ts";
import {
  type PostgresPoolLike,
  type PostgresStore,
  postgresStore,
} from "../../src/stores/postgres/index.ts";
import { keyOf, moveOf } from "../../src/stores/postgres/row.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { findScratch, type Scratch } from "../servers/postgres.ts";

const CHILD = fileURLToPath(new URL("postgres-storm.child.ts", import.meta.url));
const CHILDREN = 4;
const KEYS = 200;

test("a row that stays locked is given up after some tries, with longer and longer pauses", async () => {
  const pauses: number[] = [];
  const batcher = createBatcher({
    run: async (asked) => new Map(asked.map(({ key }) => [key, "busy"])),
    pause: async (ms) => {
      pauses.push(ms);
      return "slept";
    },
  });
  const swapping = batcher.swap(moveOf(create(recordOf())));
  await expect(swapping).rejects.toBeInstanceOf(StoreUnavailableError);
  expect(pauses.slice(0, 4)).toEqual([2, 4, 8, 16]);
  expect(Math.max(...pauses)).toBe(100);
  expect(pauses.length).toBeLessThan(60);
});

test("a connection that breaks under a batch is told to all in it, and nothing is tried again", async () => {
  let runs = 0;
  const batcher = createBatcher({
    run: async () => {
      runs += 1;
      throw Object.assign(new Error("gone"), { code: "ECONNRESET" });
    },
    pause: async () => "slept",
  });
  const asked = ["1", "2", "3"].map((id) => moveOf(create(recordOf({ id }))));
  const swaps = await Promise.allSettled(asked.map((one) => batcher.swap(one)));
  expect(swaps.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(runs).toBe(1);
});

const scratch = await findScratch();
if (scratch) testBatches(scratch);
else test.skip("batches, on Postgres");

function testBatches({ url, schema, pool, drop }: Scratch): void {
  const operations = `"${schema}"."holdfire_operations"`;
  let store: PostgresStore;
  let asked: string[] = [];

  /** The pool, and what it was asked. */
  const counted: PostgresPoolLike = {
    query: (query) => {
      asked.push(query.text);
      return pool.query<unknown[]>(query);
    },
    connect: () => pool.connect(),
  };

  beforeAll(() => postgresStore({ pool, schema }).migrate());
  afterAll(drop);

  beforeEach(async () => {
    for (const name of ["operations", "lanes", "effects"]) {
      await pool.query(`DELETE FROM "${schema}"."holdfire_${name}"`);
    }
    store = postgresStore({ pool: counted, schema });
    await store.open();
    asked = [];
  });
  afterEach(() => store.close());

  const records = (count: number) =>
    Array.from({ length: count }, (_, index) => recordOf({ id: `operation-${index}` }));

  /** Works while another transaction holds the rows of one operation. */
  async function whileLocked(
    lock: string,
    work: (client: pg.PoolClient) => Promise<void>,
  ): Promise<void> {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      await client.query(lock, ["operation-0"]);
      await work(client);
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  }

  const deadlocks = async (): Promise<unknown> => {
    const text = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    return (await pool.query({ text, rowMode: "array" })).rows[0]?.[0];
  };

  test("200 swaps at once go in a few statements", async () => {
    const swaps = await Promise.all(records(KEYS).map((record) => store.swap(create(record))));
    expect(swaps.every(({ ok }) => ok)).toBe(true);
    expect(asked.length).toBeLessThanOrEqual(3);
    expect(new Set(swaps.map((swapped) => swapped.ok && swapped.version)).size).toBe(KEYS);
  });

  test("a lone swap goes at once, in a statement of its own", async () => {
    const swapping = store.swap(create(recordOf()));
    // No timer, and no turn of the event loop: only what promises need.
    for (let step = 0; step < 20; step += 1) await Promise.resolve();
    expect(asked).toHaveLength(1);
    expect((await swapping).ok).toBe(true);
  });

  test("swaps that share a statement are answered in the order of their sequences, so none looks overtaken", async () => {
    const answered: number[] = [];
    await Promise.all(
      records(20).map(async (record) => {
        answered.push((await mustSwap(store, create(record))).sequence);
      }),
    );
    expect(asked).toHaveLength(1);
    expect(answered).toEqual(answered.toSorted((a, b) => a - b));
  });

  test("new records, changes, removals and lanes share a statement", async () => {
    const [changed, removed, other] = records(3);
    if (!changed || !removed || !other) throw new Error("There are three.");
    const first = await mustSwap(store, create(changed));
    const second = await mustSwap(store, create(removed));
    asked = [];
    const lane = { name: "payment/p1", expect: 0, lane: { holder: other.id, queue: [] } };
    const swaps = await Promise.all([
      store.swap({ ...create({ ...changed, argsHash: "new" }), expect: first.version }),
      store.swap({ ...create(removed), expect: second.version, record: undefined }),
      store.swap({ ...create(other), lane }),
    ]);
    expect(asked).toHaveLength(1);
    expect(swaps.map(({ ok }) => ok)).toEqual([true, true, true]);
    expect((await mustRead(store, "acme", changed.id)).record.argsHash).toBe("new");
    expect((await store.read("acme", removed.id)).stored).toBeUndefined();
    expect((await store.readLane("acme", "payment/p1")).stored?.lane.holder).toBe(other.id);
  });

  test("records with line feeds in their texts, and removals between them, each keep to their row", async () => {
    // In the order of the keys, as they are sent: a removal that took no place would shift those after it.
    const lines = records(5)
      .map((record) => ({ ...record, argsHash: `\n${record.id}\r\n\n` }))
      .sort((a, b) => (keyOf("acme", a.id) < keyOf("acme", b.id) ? -1 : 1));
    const firsts = await Promise.all(lines.map((record) => mustSwap(store, create(record))));
    asked = [];
    const isRemoved = (index: number) => index === 0 || index === 2;
    await Promise.all(
      lines.map((record, index) =>
        mustSwap(store, {
          ...create(record),
          expect: firsts[index]?.version ?? 0,
          record: isRemoved(index) ? undefined : { ...record, scope: `${record.id}\n` },
        }),
      ),
    );
    expect(asked).toHaveLength(1);
    for (const [index, record] of lines.entries()) {
      const { stored } = await store.read("acme", record.id);
      const kept = { argsHash: record.argsHash, scope: `${record.id}\n` };
      if (isRemoved(index)) expect(stored).toBeUndefined();
      else expect(stored?.record).toMatchObject(kept);
    }
  });

  test("of equal keys in one turn one wins, and the others are told what it wrote", async () => {
    const hashes = Array.from({ length: 50 }, (_, index) => `hash-${index}`);
    const swaps = await Promise.all(
      hashes.map((argsHash) => store.swap(create(recordOf({ argsHash })))),
    );
    expect(swaps.filter(({ ok }) => ok)).toHaveLength(1);
    const stored = await mustRead(store, "acme", "operation-1");
    expect(stored.record.argsHash).toBe("hash-0");
    for (const swapped of swaps.slice(1))
      expect("current" in swapped && swapped.current).toEqual(stored);
  });

  test("equal keys that expect different versions are asked one after the other", async () => {
    const [first, second] = await Promise.all([
      store.swap(create(recordOf({ argsHash: "first" }))),
      store.swap({ ...create(recordOf({ argsHash: "second" })), expect: 99 }),
    ]);
    expect(first.ok).toBe(true);
    expect(second).toMatchObject({ ok: false, current: { record: { argsHash: "first" } } });
    expect(asked).toHaveLength(2);
  });

  describe("a row that another transaction has locked", () => {
    test("does not stall the others, and is written when it is free", async () => {
      const versions = await Promise.all(
        records(20).map((record) => mustSwap(store, create(record))),
      );
      let late: Promise<unknown> | undefined;
      await whileLocked(`SELECT * FROM ${operations} WHERE id = $1 FOR UPDATE`, async () => {
        const swaps = records(20).map((record, index) =>
          store.swap({ ...create(record), expect: versions[index]?.version ?? 0 }),
        );
        const others = await Promise.all(swaps.slice(1));
        expect(others.every(({ ok }) => ok)).toBe(true);
        late = swaps[0];
        const state = await Promise.race([late, Promise.resolve("waits")]);
        expect(state).toBe("waits");
      });
      expect(await late).toMatchObject({ ok: true });
    });

    test("does not stall a new claim of it, which is refused at once", async () => {
      await mustSwap(store, create(recordOf({ id: "operation-0" })));
      const update = `UPDATE ${operations} SET version = version + 0 WHERE id = $1`;
      await whileLocked(update, async () => {
        const swaps = await Promise.all(records(5).map((record) => store.swap(create(record))));
        expect(swaps.map(({ ok }) => ok)).toEqual([false, true, true, true, true]);
      });
    });

    test("does not keep close from ending", async () => {
      const { version } = await mustSwap(store, create(recordOf({ id: "operation-0" })));
      await whileLocked(`SELECT * FROM ${operations} WHERE id = $1 FOR UPDATE`, async () => {
        const swapping = store.swap({
          ...create(recordOf({ id: "operation-0" })),
          expect: version,
        });
        const refused = expect(swapping).rejects.toMatchObject({ code: "ERR_HOLDFIRE_CLOSED" });
        // Another one in the same batch: once it is done, the first is known to be locked.
        await store.swap(create(recordOf({ id: "operation-1" })));
        await store.close();
        await refused;
      });
    });
  });

  describe("a bad change among good ones", () => {
    test.each([
      ["text that Postgres cannot keep", recordOf({ id: "bad", tool: "a\0b" })],
      ["half a character", recordOf({ id: "bad", scope: "\ud800" })],
      ["a time that is none", recordOf({ id: "bad", stateAt: Number.NaN })],
    ])("is refused before it joins them: %s", async (_, bad) => {
      const swaps = await Promise.allSettled(
        [bad, ...records(5)].map((record) => store.swap(create(record))),
      );
      expect(swaps.map(({ status }) => status)).toEqual([
        "rejected",
        ...Array(5).fill("fulfilled"),
      ]);
      expect(swaps[0]).toMatchObject({ reason: { code: "ERR_HOLDFIRE_INVALID_INPUT" } });
    });

    test("that Postgres refuses fails alone", async () => {
      await pool.query(`ALTER TABLE ${operations} ADD CONSTRAINT no_bad CHECK (tool <> 'bad')`);
      try {
        const bad = recordOf({ id: "bad", tool: "bad" });
        const swaps = await Promise.allSettled(
          [...records(5), bad].map((record) => store.swap(create(record))),
        );
        const ends = swaps.map((swap) =>
          swap.status === "fulfilled" ? swap.value.ok : "rejected",
        );
        expect(ends).toEqual([true, true, true, true, true, "rejected"]);
        expect(swaps[5]).toMatchObject({ reason: { cause: { code: "23514" } } });
      } finally {
        await pool.query(`ALTER TABLE ${operations} DROP CONSTRAINT no_bad`);
      }
    });
  });

  test("a record that another transaction makes first is left alone, and so is the lane of who came second", async () => {
    await mustSwap(store, create(recordOf({ id: "first" })));
    const columns = "phase, state_at, state, tenant, tool, scope, resource, record";
    const client = await pool.connect();
    await client.query("BEGIN");
    await client.query(
      `INSERT INTO ${operations} (key, id, seq, version, ${columns})
       SELECT $1, 'second', 9e9, 9e9, ${columns} FROM ${operations} WHERE id = 'first'`,
      [keyOf("acme", "second")],
    );
    const lane = { name: "payment/p1", expect: 0, lane: { holder: "second", queue: [] } };
    const swapping = store.swap({ ...create(recordOf({ id: "second" })), lane });
    const waiting = `SELECT 1 FROM pg_stat_activity
      WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`;
    while ((await pool.query(waiting, [schema])).rowCount === 0);
    await client.query("COMMIT");
    client.release();
    expect(await swapping).toMatchObject({ ok: false, current: { version: 9e9 } });
    expect((await store.readLane("acme", "payment/p1")).stored).toBeUndefined();
  });

  test("a lane that two make at once goes to one, and the other writes nothing", async () => {
    const stores = Array.from({ length: 4 }, () => postgresStore({ pool, schema }));
    for (let round = 0; round < 10; round += 1) {
      const ids = stores.map((_, index) => `${round}/${index}`);
      const swaps = await Promise.all(
        stores.map((each, index) => {
          const id = ids[index] ?? "";
          const lane = { name: `lane/${round}`, expect: 0, lane: { holder: id, queue: [] } };
          return each.swap({ ...create(recordOf({ id })), lane });
        }),
      );
      const winners = ids.filter((_, index) => swaps[index]?.ok);
      expect(winners).toHaveLength(1);
      expect((await store.readLane("acme", `lane/${round}`)).stored?.lane.holder).toBe(winners[0]);
      for (const [index, id] of ids.entries()) {
        const isThere = (await store.read("acme", id)).stored !== undefined;
        expect(isThere).toBe(swaps[index]?.ok);
      }
    }
    await Promise.all(stores.map((each) => each.close()));
  });

  test("processes whose batches overlap in opposite order do not deadlock, and each key is won once", async () => {
    const children = Array.from({ length: CHILDREN }, (_, index) => {
      const order = index % 2 === 0 ? "forwards" : "backwards";
      const child = spawn(process.execPath, [CHILD, url, schema, order, `${KEYS}`], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
      return { child, next: async (): Promise<string> => (await lines.next()).value ?? "" };
    });
    const say = (word: string) => {
      for (const { child } of children) child.stdin.write(`${word}\n`);
    };
    const hear = () => Promise.all(children.map(({ next }) => next()));
    expect(await hear()).toEqual(children.map(() => "ready"));
    const before = await deadlocks();
    // First all claim the same keys, then all change the same versions.
    for (const [step, wins] of [
      ["claim", KEYS],
      ["look", 0],
      ["change", KEYS],
    ] as const) {
      say(step);
      const won = (await hear()).flatMap((line) => JSON.parse(line) as string[]);
      expect(won).toHaveLength(wins);
      expect(new Set(won).size).toBe(wins);
    }
    say("end");
    await Promise.all(
      children.map(({ child }) => new Promise((resolve) => child.once("close", resolve))),
    );
    expect(await deadlocks()).toBe(before);
  });
}
