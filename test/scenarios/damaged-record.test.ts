/** One damaged record hides no other: lists leave it out and say so, and reconcile goes on with the rest. */
import { DatabaseSync } from "node:sqlite";
import { Redis } from "ioredis";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { committed } from "../../src/engine/define/reading.ts";
import { type Clock, systemClock } from "../../src/lang/clock.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { layoutFor } from "../../src/stores/redis/layout.ts";
import { findGround, type Ground } from "../processes/ground.ts";
import { openPlace, type Place, STORES } from "../processes/place.ts";

const DEADLINE_MS = 60_000;

/** Overwrites a record as a bad disk or a wrong hand would. */
async function damage(place: Place, id: string): Promise<void> {
  switch (place.store) {
    case "sqlite": {
      const db = new DatabaseSync(place.path);
      db.prepare("UPDATE operation SET text = substr(text, 1, 40) WHERE id = ?").run(id);
      db.close();
      return;
    }
    case "redis": {
      const client = new Redis(place.url);
      const key = layoutFor("single", place.prefix).key(0, "operation", "default", id);
      await client.set(key, ((await client.get(key)) ?? "").slice(0, 100));
      await client.quit();
      return;
    }
    case "postgres": {
      const client = new pg.Client({ connectionString: place.url });
      await client.connect();
      const table = `"${place.schema}".holdfire_operations`;
      await client.query(`UPDATE ${table} SET record = left(record, 40) WHERE id = $1`, [id]);
      await client.end();
    }
  }
}

describe.each(STORES)("on %s", (name) => {
  let ground: Ground | undefined;
  beforeAll(async () => {
    ground = await findGround(name);
  });
  afterAll(() => ground?.stop());

  /** Four payments whose replies were lost; the record of the second is damaged. */
  async function damagedLedger(place: Place) {
    const { store, end } = await openPlace(place);
    let ahead = 0;
    const clock: Clock = {
      now: () => systemClock.now() + ahead,
      monotonic: () => systemClock.monotonic() + ahead,
      after: systemClock.after,
    };
    const hf = createHoldfire({
      store,
      witness: memoryWitness(),
      retry: { drainMs: 1 },
      surroundings: { clock },
    });
    const sent: string[] = [];
    let isReadable = false;
    const unreadable: string[] = [];
    hf.on("store", (event) => {
      if (event.status === "unreadable") unreadable.push(event.id);
    });
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      attempts: 1,
      run: async ({ to }: { readonly to: string }): Promise<string> => {
        sent.push(to);
        throw new Error("The reply was lost.");
      },
      readState: async () => {
        if (isReadable) return committed("paid");
        // The first read that cannot tell takes all the time that the call has.
        ahead += DEADLINE_MS;
        throw new Error("not yet");
      },
      deadlineMs: DEADLINE_MS,
    });
    const call = (to: string) => pay.outcome({ to }, { scope: `payroll/${to}` });
    const outcomes = [];
    for (const to of ["ana", "ben", "carl", "dora"]) outcomes.push(await call(to));
    expect(outcomes.map(({ status }) => status)).toEqual(Array(4).fill("unknown"));
    const [ana = "", ben = "", carl = "", dora = ""] = outcomes.map(({ id }) => id);
    await damage(place, ben);
    isReadable = true;
    return { hf, store, call, sent, unreadable, ids: { ana, ben, carl, dora }, end };
  }

  test("lists leave it out and name it, page by page", async ({ skip }) => {
    if (!ground) return skip();
    const { hf, unreadable, ids, end } = await damagedLedger(await ground.ledger(0));
    const page = await hf.operations.list({ open: true });
    expect(page.items.map(({ id }) => id)).toEqual([ids.ana, ids.carl, ids.dora]);
    expect(page.unreadable).toEqual([ids.ben]);
    expect(unreadable).toEqual([ids.ben]);

    const seen: string[] = [];
    const damaged: string[] = [];
    let cursor: string | undefined;
    do {
      const part = await hf.operations.list({ limit: 1, cursor });
      seen.push(...part.items.map(({ id }) => id));
      damaged.push(...(part.unreadable ?? []));
      ({ cursor } = part);
    } while (cursor !== undefined);
    expect(seen).toEqual([ids.ana, ids.carl, ids.dora]);
    expect(damaged).toEqual([ids.ben]);
    expect((await hf.approvals.list()).items).toEqual([]);
    await hf.close();
    await end();
  });

  test("reconcile settles the others and counts it", async ({ skip }) => {
    if (!ground) return skip();
    const { hf, unreadable, ids, end } = await damagedLedger(await ground.ledger(1));
    const report = await hf.reconcile();
    expect(report).toMatchObject({ committed: 3, stillUnknown: [], skipped: { unreadable: 1 } });
    expect(unreadable).toEqual([ids.ben]);
    await hf.close();
    await end();
  });

  test("its own operation is not sent again, and pruning passes it by", async ({ skip }) => {
    if (!ground) return skip();
    const place = await ground.ledger(0);
    const { hf, store, call, sent, ids, end } = await damagedLedger(place);
    await expect(call("ben")).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_STORE_UNAVAILABLE",
      reason: "damaged_record",
      message: expect.not.stringContaining("did not answer"),
      cause: expect.any(Error),
    });
    expect(sent).toEqual(["ana", "ben", "carl", "dora"]);

    await hf.reconcile();
    await damage(place, ids.carl);
    // What was settled in this very millisecond is not older than now.
    let removed = 0;
    const prune = async () => {
      const pruned = await store.prune({ tenant: "default", tombstonesOlderThanMs: 0 });
      removed += pruned.tombstones;
      return removed;
    };
    await expect.poll(prune).toBe(2);
    expect((await hf.operations.list()).unreadable).toEqual([ids.ben, ids.carl]);
    await hf.close();
    await end();
  });
});
