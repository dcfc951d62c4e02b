/**
 * The rows of operations: appended in the order of creation, found by their names.
 *
 * @module
 */

import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { Place } from "./job.ts";
import type { Lookup } from "./lookup.ts";
import type { Parts, Payloads } from "./payloads.ts";
import type { ReadRow, Row } from "./row.ts";

/** A row as it lies there, its payload unread. */
export interface Lying {
  readonly seq: number;
  readonly version: number;
  readonly lease: number | null;
  readonly tenant: number;
  readonly id: string;
  readonly text: string;
  readonly parts: Parts;
}

export interface Write {
  readonly row: Row;
  readonly version: number;
  readonly lease: number | null;
  readonly parts: Parts;
}

export interface Operations {
  find(place: Place, tenant: number): Lying | undefined;
  at(seq: number): Lying | undefined;
  /** The row with its payload. */
  whole(lying: Lying): ReadRow;
  /** Appends, unless the operation is there. Says whether it did. */
  append(place: Place, tenant: number, write: Write): boolean;
  /** Writes over what was written once, as version `expect`. `false`: there is no such row. */
  overwrite(place: Place, tenant: number, expect: number, write: Write): boolean;
  /** Writes over a row that was found. */
  update(seq: number, write: Write): void;
  remove(seq: number, hash: number): void;
}

export const COLUMNS = "seq, version, lease, tenant, id, text, payload, parts";
// The sequence of the first write is the place in the order of creation.
const INSERT = `
  INSERT INTO operation
    (seq, hash, tenant, stage, settled_at, version, lease, resource, payload, parts, id, text)
  VALUES (?1, ?2, ?3, ?4, ?5, ?1, ?6, ?7, ?8, ?9, ?10, ?11)`;
const SET = `
  SET stage = ?, settled_at = ?, version = ?, lease = ?, payload = ?, parts = ?, text = ?`;

export function operationsOf(db: DatabaseSync, lookup: Lookup, payloads: Payloads): Operations {
  const bySeq = db.prepare(`SELECT ${COLUMNS} FROM operation WHERE seq = ?`);
  const insert = db.prepare(INSERT);
  const overwrite = db.prepare(
    `UPDATE operation ${SET} WHERE seq = ? AND version = ? AND tenant = ? AND id = ? AND parts = 0`,
  );
  const update = db.prepare(`UPDATE operation ${SET} WHERE seq = ?`);
  const remove = db.prepare("DELETE FROM operation WHERE seq = ?");

  function at(seq: number): Lying | undefined {
    const row = bySeq.get(seq);
    return row && lyingOf(row);
  }

  function find({ hash, id }: Place, tenant: number): Lying | undefined {
    for (const seq of lookup.rowsOf(hash)) {
      const lying = at(seq);
      if (lying?.tenant === tenant && lying.id === id) return lying;
    }
    return undefined;
  }

  return {
    find,

    at,

    whole: ({ seq, version, lease, id, text, parts }) => ({
      seq,
      version,
      lease,
      id,
      text,
      payload: payloads.read(parts),
    }),

    append(place, tenant, { row, version, lease, parts }) {
      if (find(place, tenant)) return false;
      const { hash, id } = place;
      insert.run(
        version,
        hash,
        tenant,
        row.stage,
        row.settledAt,
        lease,
        row.resource,
        parts.first,
        parts.count,
        id,
        row.text,
      );
      lookup.add(hash, version);
      return true;
    },

    overwrite({ id }, tenant, expect, { row, version, lease, parts }) {
      const { stage, settledAt, text } = row;
      const { first, count } = parts;
      const { changes } = overwrite.run(
        stage,
        settledAt,
        version,
        lease,
        first,
        count,
        text,
        // What was written once has the version that is its place: nothing need be looked up.
        expect,
        expect,
        tenant,
        id,
      );
      return changes === 1;
    },

    update(seq, { row, version, lease, parts }) {
      const { stage, settledAt, text } = row;
      update.run(stage, settledAt, version, lease, parts.first, parts.count, text, seq);
    },

    remove(seq, hash) {
      remove.run(seq);
      lookup.remove(hash, seq);
    },
  };
}

export const lyingOf = (row: Record<string, SQLOutputValue>): Lying => ({
  seq: Number(row.seq),
  version: Number(row.version),
  lease: numberOrNull(row.lease),
  tenant: Number(row.tenant),
  id: String(row.id),
  text: String(row.text),
  parts: { first: numberOrNull(row.payload), count: Number(row.parts) },
});

const numberOrNull = (value: SQLOutputValue | undefined): number | null =>
  typeof value === "number" ? value : null;
