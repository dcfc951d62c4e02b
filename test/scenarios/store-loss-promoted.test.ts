/** An asynchronous standby of Postgres is promoted, with and without the last claims. */
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { inProgress } from "../../src/engine/define/reading.ts";
import { memoryWitness, type Witness } from "../../src/ledger/witness/witness.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import { postgresStore } from "../../src/stores/postgres/index.ts";
import { canStartPostgres } from "../servers/postgres.ts";
import { type FailoverPair, startFailoverPair } from "../servers/postgres-failover.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const canStart = await canStartPostgres();
const newFolder = temporaryFolder();
const EIGHT = [1, 2, 3, 4, 5, 6, 7, 8];

describe.skipIf(!canStart)("an asynchronous standby of Postgres", { timeout: 60_000 }, () => {
  let pair: FailoverPair;
  let folder: string;
  let mails: number[];
  const opened: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    pair = await startFailoverPair();
    folder = newFolder();
    mails = [];
  }, 60_000);

  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await pair.stop();
  });

  function open(forgets?: "accepted", witness: Witness = fileWitness({ folder })) {
    const pool = new pg.Pool({ connectionString: pair.url, max: 4 });
    // A connection that is idle when the primary goes is simply replaced.
    pool.on("error", () => {});
    const hf: Holdfire = createHoldfire({
      store: postgresStore({ pool, migrate: true, forgets, notify: false }),
      witness,
    });
    const suspicions: string[] = [];
    hf.on("store", (event) => {
      if (event.status === "suspect") suspicions.push(event.why);
    });
    const mail = hf.tool({
      name: "mail",
      kind: "write",
      run: ({ to }: { to: number }) => void mails.push(to),
    });
    const sendAll = (those = EIGHT) =>
      Promise.all(those.map((to) => mail.outcome({ to }, { scope: "job" })));
    const close = async () => {
      await hf.close();
      await pool.end();
    };
    opened.push({ close });
    return { hf, mail, sendAll, suspicions };
  }

  test("is no place for a tool with neither key nor reader, unless that is accepted by name", async () => {
    const { hf, mail } = open();
    await expect(mail({ to: 1 }, { scope: "job" })).rejects.toThrow(/may forget that it was sent/);
    expect(mails).toEqual([]);
    const read = hf.tool({ name: "keyed", kind: "write", keyed: { forMs: 1e9 }, run: () => 1 });
    expect(await read({}, { scope: "job" })).toBe(1);
    await open("accepted").sendAll([1]);
    expect(mails).toEqual([1]);
  });

  test.each(["a new process", "a living process"])(
    "promoted without the last 8 claims, it is noticed by %s: no mail is sent twice",
    async (who) => {
      const first = open("accepted");
      await first.sendAll([0]);
      await pair.cutOff();
      await first.sendAll();
      await pair.failOver();
      const { sendAll, suspicions } = who === "a new process" ? open("accepted") : first;
      const outcomes = await sendAll();
      expect(outcomes.map(({ status }) => status)).toEqual(EIGHT.map(() => "unknown"));
      expect(outcomes[0]).toMatchObject({ reason: "store_lost" });
      expect(suspicions).toHaveLength(1);
      expect(suspicions[0]).toMatch(/lacks the last change/);
      expect(mails.toSorted()).toEqual([0, ...EIGHT]);
      // What it has is still answered from the record.
      expect(await sendAll([0])).toMatchObject([{ status: "committed", replayed: true }]);
    },
  );

  test.each(["a new process", "a living process"])(
    "promoted with all that was written, it is trusted by %s",
    async (who) => {
      const first = open("accepted", who === "a living process" ? memoryWitness() : undefined);
      await first.sendAll();
      // A claim that was withdrawn leaves nothing to look for.
      if (who === "a living process") {
        const busy = first.hf.tool({
          name: "busy",
          kind: "write",
          readFirst: true,
          readState: () => inProgress(),
          run: () => 1,
        });
        expect(await busy.outcome({}, { scope: "job" })).toMatchObject({ status: "in_progress" });
      }
      await pair.caughtUp();
      await pair.failOver();
      const { sendAll, suspicions } = who === "a new process" ? open("accepted") : first;
      expect(await sendAll([...EIGHT, 9])).toMatchObject([
        ...EIGHT.map(() => ({ status: "committed", replayed: true })),
        { status: "committed", replayed: false },
      ]);
      expect(suspicions).toEqual([]);
      expect(mails.toSorted()).toEqual([...EIGHT, 9]);
    },
  );
});
