/**
 * The rows of operations: found by hash, written by rowid.
 *
 * @module
 */

import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import type { Place } from "./job.ts";
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

export interface Operations {
  find(place: Place, tenant: number): Lying | undefined;
  at(seq: number): Lying | undefined;
  whole(lying: Lying): ReadRow;
  /** Appends, unless the operation is there. Says whether it did. */
  insert(place: Place, tenant: number, seq: number, row: Row, lease: number | null, parts: Parts): boolean;
  /** Writes over a row of this version that has no payload, found by its name. `false`: there is none. */
  overwrite(place: Place, tenant: number, expect: number, write: Write): boolean;
  /** Writes over a row that was found. */
  update(seq: number, write: Write): void;
  remove(seq: number): void;
}

export interface Write {
  readonly row: Row;
  readonly version: number;
  readonly lease: number | null;
  readonly parts: Parts;
}

const COLUMNS = "seq, version, lease, tenant, id, text, payload, parts";
// One statement, so that a claim need not look before it writes.
const INSERT = `
  INSERT INTO operation
    (seq, hash, tenant, stage, settled_at, version, lease, resource, payload, parts, id, text)
  SELECT ?1, ?2, ?3, ?4, ?5, ?1, ?6, ?7, ?8, ?9, ?10, ?11
  WHERE NOT EXISTS (SELECT 1 FROM operation WHERE hash = ?2 AND tenant = ?3 AND id = ?10)`;
const SET = `
  UPDATE operation
  SET stage = ?, settled_at = ?, version = ?, lease = ?, payload = ?, parts = ?, text = ?`;

export function operationsOf(db: DatabaseSync, payloads: Payloads): Operations {
  const byName = db.prepare(
    `SELECT ${COLUMNS} FROM operation WHERE hash = ? AND tenant = ? AND id = ?`,
  );
  const bySeq = db.prepare(`SELECT ${COLUMNS} FROM operation WHERE seq = ?`);
  const insert = db.prepare(INSERT);
  const overwrite = db.prepare(
    `${SET} WHERE hash = ? AND tenant = ? AND id = ? AND version = ? AND parts = 0`,
  );
  const update = db.prepare(`${SET} WHERE seq = ?`);
  const remove = db.prepare("DELETE FROM operation WHERE seq = ?");

  return {
    find({ hash, id }, tenant) {
      const row = byName.get(hash, tenant, id);
      return row && lyingOf(row);
    },

    at(seq) {
      const row = bySeq.get(seq);
      return row && lyingOf(row);
    },

    whole: ({ seq, version, lease, id, text, parts }) => ({
      seq,
      version,
      lease,
      id,
      text,
      payload: payloads.read(parts),
    }),

    insert({ hash, id }, tenant, seq, { stage, settledAt, resource, text }, lease, parts) {
      const { first, count } = parts;
      const values = [seq, hash, tenant, stage, settledAt, lease, resource, first, count, id, text];
      return insert.run(...values).changes === 1;
    },

    overwrite({ hash, id }, tenant, expect, write) {
      return overwrite.run(...valuesOf(write), hash, tenant, id, expect).changes === 1;
    },

    update(seq, write) {
      update.run(...valuesOf(write), seq);
    },

    remove(seq) {
      remove.run(seq);
    },
  };
}

const valuesOf = ({ row, version, lease, parts }: Write) =>
  [row.stage, row.settledAt, version, lease, parts.first, parts.count, row.text] as const;

export const lyingOf = (row: Record<string, SQLOutputValue>): Lying => ({
  seq: Number(row["seq"]),
  version: Number(row["version"]),
  lease: numberOrNull(row["lease"]),
  tenant: Number(row["tenant"]),
  id: String(row["id"]),
  text: String(row["text"]),
  parts: { first: numberOrNull(row["payload"]), count: Number(row["parts"]) },
});

const numberOrNull = (value: SQLOutputValue | undefined): number | null =>
  typeof value === "number" ? value : null;
