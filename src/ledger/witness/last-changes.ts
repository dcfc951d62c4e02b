/**
 * The last records that a server has acknowledged to this process: what a copy that takes its place must have.
 *
 * @module
 */

import type { Stored } from "../record.ts";
import type { Change } from "../store.ts";

export interface Acknowledged {
  readonly tenant: string;
  readonly id: string;
  readonly version: number;
  /** One that was made anew has another. */
  readonly createdAt: number;
}

export interface LastChanges {
  /** A record that was removed is no longer looked for. */
  add(change: Pick<Change, "tenant" | "id" | "record">, version: number): void;
  newest(): Acknowledged | undefined;
  clear(): void;
}

/** More than one: the newest may be removed, as a claim is that was withdrawn. */
const KEPT = 8;

/** Whether a record is the one that was acknowledged, or what has become of it since. */
export const isKept = ({ version, createdAt }: Acknowledged, there: Stored | undefined): boolean =>
  there !== undefined && there.version >= version && there.record.createdAt === createdAt;

export function lastChanges(): LastChanges {
  /** The one that was changed last comes last. */
  const kept: Acknowledged[] = [];
  return {
    add({ tenant, id, record }, version) {
      const place = kept.findIndex((one) => one.id === id && one.tenant === tenant);
      if (place >= 0) kept.splice(place, 1);
      if (!record) return;
      kept.push({ tenant, id, version, createdAt: record.createdAt });
      if (kept.length > KEPT) kept.shift();
    },
    newest: () => kept.toSorted((one, other) => other.version - one.version)[0],
    clear() {
      kept.length = 0;
    },
  };
}
