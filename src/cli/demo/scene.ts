/**
 * One act as it happens: what arrived at the bank, what the ledger did, what was paid, in order.
 *
 * The bank is a real HTTP service on loopback that pays and then loses its first reply. Its log is the
 * wire and the money; nothing that is shown comes from those who call it.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { type FaultyService, faults, startFaultyService } from "../../testing/faulty-service.ts";

export const PAYOUT = { payee: "ana", cents: 40_00 } as const;

export type Row =
  | { readonly tag: "wire"; readonly text: string; readonly cents: number; readonly lost: boolean }
  | { readonly tag: "ledger"; readonly text: string }
  | { readonly tag: "said"; readonly who: string; readonly text: string };

export interface Scene {
  readonly bank: FaultyService;
  readonly rows: readonly Row[];
  /** A person or the caller says something. */
  say(who: string, text: string): void;
  /** The ledger has moved. */
  note(text: string): void;
  /** Notes every move of this holdfire's ledger. */
  watch(hf: Holdfire): void;
  /** Adds what has arrived since the last row. */
  catchUp(): void;
  close(): Promise<void>;
}

export async function openScene(): Promise<Scene> {
  const bank = await startFaultyService();
  bank.plan(faults.commitThenReset());
  const rows: Row[] = [];
  let seen = 0;

  // What came is logged before it is answered, so it stands before whatever the answer led to.
  const catchUp = (): void => {
    const fresh = wireOf(bank).filter(({ seq }) => seq > seen);
    seen = fresh.at(-1)?.seq ?? seen;
    rows.push(...fresh.map(({ row }) => row));
  };
  const add = (row: Row): void => {
    catchUp();
    rows.push(row);
  };
  const note = (text: string): void => add({ tag: "ledger", text });

  return {
    bank,
    rows,
    catchUp,
    note,
    say: (who, text) => add({ tag: "said", who, text }),
    watch(hf) {
      hf.on("attempt", ({ attempt }) => note(`claimed, attempt ${attempt} fires`));
      hf.on("verdict", ({ verdict }) => note(`attempt ended: ${verdict}`));
      hf.on("read", ({ reading }) => note(`state read: ${reading}`));
      hf.on("outcome", ({ status, via, reason, replayed }) => {
        if (replayed) note(`${status}, nothing sent`);
        else if (via) note(`committed, known by ${via}`);
        else if (status === "unknown") note(`unknown (${reason}), held`);
      });
    },
    close: () => bank.close(),
  };
}

function wireOf({ arrivals, reads, effects }: FaultyService) {
  const paidUpTo = (seq: number): number =>
    effects.filter(({ arrival }) => arrival <= seq).length * PAYOUT.cents;
  const posts = arrivals.map(({ seq, key, fault }) => {
    const isPaid = effects.some(({ arrival }) => arrival === seq);
    const end = `${isPaid ? "paid" : "not paid"}, ${fault ? "reply lost" : "answered"}`;
    return { seq, text: `POST ${shortKey(key)}  ${end}`, lost: fault !== undefined };
  });
  const gets = reads.map(({ seq, path }) => {
    const key = new URL(path, "http://bank").searchParams.get("key") ?? undefined;
    const found = effects.filter((effect) => effect.seq < seq && effect.key === key).length;
    const text = `GET  ${shortKey(key)}  ${found > 0 ? "it is there" : "nothing there"}`;
    return { seq, text, lost: false };
  });
  return [...posts, ...gets]
    .sort((one, other) => one.seq - other.seq)
    .map(({ seq, text, lost }) => {
      const row: Row = { tag: "wire", text, cents: paidUpTo(seq), lost };
      return { seq, row };
    });
}

const shortKey = (key: string | undefined): string =>
  key === undefined ? "no key      " : `key ${key.slice(0, 8)}`;
