/**
 * Who has which effect. Found by hash, like operations: effect ids come in any order.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { hashOf } from "./hash.ts";

/** An effect's name. */
export interface EffectName {
  readonly tenant: string;
  readonly service: string;
  readonly effect: string;
}

export interface Effects {
  ownerOf(name: EffectName, tenant: number): string | undefined;
  give(name: EffectName, tenant: number, owner: string): void;
  /** Frees all that the operation has. */
  release(tenantName: string, tenant: number, owner: string): void;
}

export function effectsOf(db: DatabaseSync): Effects {
  const select = db.prepare(
    "SELECT owner FROM effect WHERE hash = ? AND tenant = ? AND service = ? AND effect = ?",
  );
  const insert = db.prepare(
    "INSERT INTO effect (hash, owner_hash, tenant, service, effect, owner) VALUES (?, ?, ?, ?, ?, ?)",
  );
  const remove = db.prepare("DELETE FROM effect WHERE owner_hash = ? AND tenant = ? AND owner = ?");
  const hashOfEffect = ({ tenant, service, effect }: EffectName) => hashOf(tenant, service, effect);

  return {
    ownerOf(name, tenant) {
      const row = select.get(hashOfEffect(name), tenant, name.service, name.effect);
      return row && String(row.owner);
    },

    give(name, tenant, owner) {
      const ownerHash = hashOf(name.tenant, owner);
      insert.run(hashOfEffect(name), ownerHash, tenant, name.service, name.effect, owner);
    },

    release(tenantName, tenant, owner) {
      remove.run(hashOf(tenantName, owner), tenant, owner);
    },
  };
}
