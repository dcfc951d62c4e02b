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
  const kept = new Map<string, Acknowledged>();
  return {
    add({ tenant, id, record }, version) {
      const name = JSON.stringify([tenant, id]);
      kept.delete(name);
      if (record) kept.set(name, { tenant, id, version, createdAt: record.createdAt });
      const [oldest] = kept.keys();
      if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
    },
    newest: () => [...kept.values()].sort((one, other) => other.version - one.version)[0],
    clear: () => kept.clear(),
  };
}
