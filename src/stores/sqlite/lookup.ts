/**
 * Which rows have this hash: the old ones by a table on disk, the young ones by a map in memory.
 *
 * Hashes come in no order, so each entry on disk dirties another page, and a batch of a hundred claims
 * would write a hundred pages for a hundred small numbers. The youngest rows are therefore found by
 * memory alone, and folded into the table in one go. Every process keeps its own map: rows are
 * appended in order, so what others have added is read from where it looked last.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";

/** How far the ledger has come. */
export interface Extent {
  /** The last sequence that was handed out: no row is younger. */
  readonly sequence: number;
  /** Rows up to this one are in the table. */
  readonly folded: number;
}

export interface Lookup {
  /** Takes in what others have appended. To be called before anything is found or added. */
  catchUp(extent: Extent): void;
  /** Rows that may be meant; what they hold must be compared. */
  rowsOf(hash: number): readonly number[];
  add(hash: number, row: number): void;
  remove(hash: number, row: number): void;
  /** The last step of a transaction that wrote: when there are many young rows, they go to disk. */
  advance(sequence: number): void;
  /** Something was rolled back: the next look begins anew. What was found by now stays true. */
  forget(): void;
}

/** How many rows are found by memory. */
const YOUNG_ROWS = 2_048;

const NONE: readonly number[] = [];

export function lookupOf(db: DatabaseSync): Lookup {
  const old = db.prepare("SELECT row FROM place WHERE hash = ?");
  const younger = db.prepare("SELECT seq, hash FROM operation WHERE seq > ? ORDER BY seq");
  const hashAt = db.prepare("SELECT hash FROM operation WHERE seq = ?");
  const insert = db.prepare(
    // In the order of the table: each of its pages is then written once.
    "INSERT INTO place SELECT hash, seq FROM operation WHERE seq > ? ORDER BY hash, seq",
  );
  const fold = db.prepare("UPDATE ledger SET folded = ?");
  const drop = db.prepare("DELETE FROM place WHERE hash = ? AND row = ?");

  /** One row for nearly every hash; a list where names share one. */
  const young = new Map<number, number | readonly number[]>();
  /** Rows up to `folded` are in the table, those from there to the youngest in the map. */
  let folded = 0;
  let seen = 0;
  let youngest: { readonly row: number; readonly hash: number } | undefined;
  let isStale = true;

  function add(hash: number, row: number): void {
    const there = young.get(hash);
    if (there === undefined) young.set(hash, row);
    else if (!listOf(there).includes(row)) young.set(hash, [...listOf(there), row]);
    youngest = { row, hash };
  }

  /** An older ledger put back may have come as far again: then another row stands at this place. */
  const isSameLedger = (): boolean =>
    youngest === undefined || hashAt.get(youngest.row)?.hash === youngest.hash;

  return {
    catchUp(extent) {
      const isKnown = extent.folded === folded && extent.sequence >= seen && isSameLedger();
      if (isStale || !isKnown) {
        young.clear();
        youngest = undefined;
        folded = extent.folded;
        seen = folded;
        isStale = false;
      }
      if (seen === extent.sequence) return;
      const from = youngest?.row ?? folded;
      for (const { seq, hash } of younger.all(from)) add(Number(hash), Number(seq));
      seen = extent.sequence;
    },

    rowsOf(hash) {
      const there = young.get(hash);
      const rows = there === undefined ? NONE : listOf(there);
      return old.get(hash) ? [...rows, ...old.all(hash).map(({ row }) => Number(row))] : rows;
    },

    add,

    remove(hash, row) {
      // Not from the map: the removal may be rolled back, and a row that is gone is not mistaken for one.
      drop.run(hash, row);
    },

    advance(sequence) {
      // Nobody else has written since this transaction began.
      seen = sequence;
      if (young.size < YOUNG_ROWS) return;
      insert.run(folded);
      fold.run(sequence);
      young.clear();
      folded = sequence;
    },

    forget() {
      isStale = true;
    },
  };
}

const listOf = (rows: number | readonly number[]): readonly number[] =>
  typeof rows === "number" ? [rows] : rows;
