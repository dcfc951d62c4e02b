/**
 * The rows of lanes. There are few: one per resource in use.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import type { LaneRow } from "./job.ts";

export interface Lanes {
  find(tenant: number, name: string): LaneRow | undefined;
  /** `undefined` removes the lane. */
  put(tenant: number, name: string, text: string | undefined, version: number): void;
}

export function lanesOf(db: DatabaseSync): Lanes {
  const select = db.prepare("SELECT text, version FROM lane WHERE tenant = ? AND name = ?");
  const replace = db.prepare("REPLACE INTO lane (tenant, name, text, version) VALUES (?, ?, ?, ?)");
  const remove = db.prepare("DELETE FROM lane WHERE tenant = ? AND name = ?");

  return {
    find(tenant, name) {
      const row = select.get(tenant, name);
      return row && { text: String(row.text), version: Number(row.version) };
    },

    put(tenant, name, text, version) {
      if (text === undefined) remove.run(tenant, name);
      else replace.run(tenant, name, text, version);
    },
  };
}
