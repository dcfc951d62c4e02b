/**
 * All tables of one connection, their statements prepared once.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { type Effects, effectsOf } from "./effects.ts";
import { type Lanes, lanesOf } from "./lanes.ts";
import { type Lookup, lookupOf } from "./lookup.ts";
import { type Operations, operationsOf } from "./operations.ts";
import { type Payloads, payloadsOf } from "./payloads.ts";
import { type Tenants, tenantsOf } from "./tenants.ts";

export interface Tables {
  readonly tenants: Tenants;
  readonly lookup: Lookup;
  readonly operations: Operations;
  readonly payloads: Payloads;
  readonly lanes: Lanes;
  readonly effects: Effects;
}

/** One transaction's view of time, and the numbers it hands out. */
export interface Turn {
  readonly now: number;
  /** The next sequence, which is also the version of what will be written. */
  upcoming(): number;
  /** Uses it up. */
  take(): void;
}

export function tablesOf(db: DatabaseSync): Tables {
  const payloads = payloadsOf(db);
  const lookup = lookupOf(db);
  return {
    tenants: tenantsOf(db),
    lookup,
    operations: operationsOf(db, lookup, payloads),
    payloads,
    lanes: lanesOf(db),
    effects: effectsOf(db),
  };
}
