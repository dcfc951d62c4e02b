/**
 * Numbers for tenants, so that their names are in no row and no index.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";

export interface Tenants {
  /** The tenant's number, or `undefined` if nothing was ever written for it. */
  find(name: string): number | undefined;
  /** The tenant's number, given out now if need be. Only in a transaction. */
  ensure(name: string): number;
  /** Forgets what a transaction that was rolled back has given out. */
  forget(): void;
}

/** How many names are kept at hand. */
const AT_HAND = 10_000;

export function tenantsOf(db: DatabaseSync): Tenants {
  const select = db.prepare("SELECT tenant FROM tenant WHERE name = ?");
  const insert = db.prepare("INSERT INTO tenant (name) VALUES (?)");
  const known = new Map<string, number>();

  function keep(name: string, tenant: number): number {
    if (known.size >= AT_HAND) known.clear();
    known.set(name, tenant);
    return tenant;
  }

  function find(name: string): number | undefined {
    const tenant = known.get(name);
    if (tenant !== undefined) return tenant;
    const row = select.get(name);
    return row && keep(name, Number(row.tenant));
  }

  return {
    find,
    ensure: (name) => find(name) ?? keep(name, Number(insert.run(name).lastInsertRowid)),
    forget: () => known.clear(),
  };
}
