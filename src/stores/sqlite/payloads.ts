/**
 * The texts of results, in a table that is only appended to.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";

/** Where a text is: so many parts from the first one on. None is no text. */
export interface Parts {
  readonly first: number | null;
  readonly count: number;
}

export const NO_PARTS: Parts = { first: null, count: 0 };

export interface Payloads {
  /** Tells that a transaction begins: others may have written since the last one. */
  begin(): void;
  /** Says where `text` will be, for `write` to put it there. Only in a transaction. */
  place(text: string | undefined): Parts;
  write(parts: Parts, text: string | undefined): void;
  read(parts: Parts): string | undefined;
  remove(parts: Parts): void;
}

const PAGE_BYTES = 4_088;
/** What a row takes beside its data. */
const ROW_BYTES = 11;
const MAX_PARTS = 8;
/** What may be left empty: more would show in the size of a ledger. */
const WASTE = 1.07;

/**
 * Into how many rows to cut a text, so that they fill their pages: a row is never split between two,
 * but one that is larger than a page is.
 */
export function partsFor(bytes: number): number {
  if (bytes > PAGE_BYTES) return 1;
  for (let parts = 1; parts < MAX_PARTS; parts++) {
    const rowsPerPage = Math.floor(PAGE_BYTES / (Math.ceil(bytes / parts) + ROW_BYTES));
    if ((parts / rowsPerPage) * PAGE_BYTES <= WASTE * (bytes + ROW_BYTES)) return parts;
  }
  return MAX_PARTS;
}

export function payloadsOf(db: DatabaseSync): Payloads {
  const last = db.prepare("SELECT max(part) AS part FROM payload");
  const insert = db.prepare("INSERT INTO payload (part, data) VALUES (?, ?)");
  const one = db.prepare("SELECT data FROM payload WHERE part = ?");
  const several = db.prepare("SELECT data FROM payload WHERE part BETWEEN ? AND ? ORDER BY part");
  const remove = db.prepare("DELETE FROM payload WHERE part BETWEEN ? AND ?");

  let next: number | undefined;

  return {
    begin() {
      next = undefined;
    },

    place(text) {
      if (text === undefined) return NO_PARTS;
      next ??= Number(last.get()?.part ?? 0) + 1;
      return { first: next, count: partsFor(Buffer.byteLength(text)) };
    },

    write({ first, count }, text) {
      if (first === null || text === undefined) return;
      next = first + count;
      if (count === 1) {
        insert.run(first, text);
        return;
      }
      // Cut as bytes: a character may be cut in two.
      const bytes = Buffer.from(text);
      const step = Math.ceil(bytes.length / count);
      for (let part = 0; part < count; part++) {
        insert.run(first + part, bytes.subarray(part * step, (part + 1) * step));
      }
    },

    read({ first, count }) {
      if (first === null) return undefined;
      if (count === 1) return textOf(one.get(first)?.data);
      const rows = several.all(first, first + count - 1);
      return Buffer.concat(rows.map(({ data }) => bytesOf(data))).toString();
    },

    remove({ first, count }) {
      if (first !== null) remove.run(first, first + count - 1);
    },
  };
}

const textOf = (data: unknown): string =>
  typeof data === "string" ? data : bytesOf(data).toString();

const bytesOf = (data: unknown): Buffer =>
  data instanceof Uint8Array
    ? Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    : Buffer.from("");
