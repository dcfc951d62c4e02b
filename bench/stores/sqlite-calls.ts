/**
 * A guarded call as the store sees it, and the least that a ledger on SQLite could do in its place.
 *
 * @module
 */

import { hash, randomUUID } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { packRecord } from "../../src/ledger/codec/record-text.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import type { Store } from "../../src/ledger/store.ts";
import { recordOf } from "../../src/testing/record-of.ts";

export const LEASE_MS = 25_000;
const RUN = randomUUID();
const HOLDER = randomUUID();

let minted = 0;
let ids: string[] = [];
/** In no order, as ids of operations are. */
export const newId = (): string => ids.pop() ?? mint();

function mint(): string {
  minted += 1;
  return hash("sha256", `${RUN}${minted}`, "base64url");
}

/** Mints ids ahead, so that minting is not timed. */
export function mintAhead(count: number): void {
  ids = Array.from({ length: count }, mint);
}
const DIGEST = hash("sha256", "digest", "base64url");
export const result = (bytes: number): string => JSON.stringify("r".repeat(bytes - 2));

/** As the engine writes them. */
export const CLAIMED: OperationRecord = recordOf({
  service: "refund_payment",
  run: RUN,
  runs: [RUN],
  fingerprint: DIGEST,
  argsHash: DIGEST,
  fields: { amount: "lazIky_J", paymentId: "vdr4us1Q" },
  intent: { form: "json", text: '{"amount":400,"paymentId":"pay_1234567"}' },
  state: { tag: "claimed", holder: HOLDER },
  stateAt: Date.now(),
  createdAt: Date.now(),
  attempts: [{ n: 1, epoch: 1, generation: 0, licence: "first", at: Date.now() }],
});

export const settledWith = (text: string): OperationRecord => ({
  ...CLAIMED,
  state: { tag: "committed", via: "reply", attempt: 1, payload: { form: "json", text } },
  intent: undefined,
  attempts: CLAIMED.attempts.map((attempt) => ({
    ...attempt,
    endedAt: Date.now(),
    verdict: "committed",
    tookKey: true,
    wireRequests: 1,
  })),
});

/** A guarded call, as far as the store sees it. */
export function guarded(store: Store, text: string): () => Promise<void> {
  const settled = settledWith(text);
  const { tenant } = settled;
  return async () => {
    const id = newId();
    const claim = await store.swap({
      tenant,
      id,
      expect: 0,
      record: { ...CLAIMED, id },
      lease: LEASE_MS,
    });
    if (!claim.ok) throw new Error("A new id is free.");
    const done = await store.swap({
      tenant,
      id,
      expect: claim.version,
      record: { ...settled, id },
      lease: "none",
    });
    if (!done.ok) throw new Error("No other caller settles it.");
  };
}

export interface Floor {
  readonly call: () => Promise<void>;
  readonly close: () => void;
}

/** The floor: a record of the same bytes made and written twice, with a key in order. */
export function openFloor(path: string, text: string): Floor {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE ledger (key TEXT PRIMARY KEY, owner TEXT, lease INTEGER, record TEXT, result TEXT)`);
  const insert = db.prepare("INSERT INTO ledger (key, owner, lease, record) VALUES (?, ?, ?, ?)");
  const update = db.prepare(
    "UPDATE ledger SET owner = NULL, lease = NULL, record = ?, result = ? WHERE key = ? AND owner = ?",
  );
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const settled = settledWith("");
  let queue: { readonly run: () => void; readonly done: () => void }[] = [];
  const write = (run: () => void): Promise<void> =>
    new Promise((done) => {
      if (queue.push({ run, done }) > 1) return;
      setImmediate(() => {
        const batch = queue;
        queue = [];
        begin.run();
        for (const job of batch) job.run();
        commit.run();
        for (const job of batch) job.done();
      });
    });
  let keys = 0;
  return {
    close: () => db.close(),
    call: async (): Promise<void> => {
      keys += 1;
      const key = `${keys}`.padStart(43, "0");
      const claimed = packRecord({ ...CLAIMED, id: key });
      await write(() => insert.run(key, HOLDER, Date.now() + LEASE_MS, claimed));
      const record = packRecord({ ...settled, id: key });
      await write(() => update.run(record, text, key, HOLDER));
    },
  };
}
