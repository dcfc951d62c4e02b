/**
 * A witness records, outside the store, the ledger's id and its highest sequence. If the store returns
 * with another id or a lower sequence it has lost data, and a missing record proves nothing.
 *
 * @module
 */

import type { Incarnation } from "../store.ts";

/** What a witness has recorded of a ledger. */
export interface Mark {
  /** The incarnation's id. */
  readonly id: string;
  /** The highest sequence seen. */
  readonly sequence: number;
  /** The history it was on; see `Incarnation`. */
  readonly timeline?: string | undefined;
  /** When this ledger was first seen here: nothing that it lost was sent before. */
  readonly since: number;
  /** Why the store is not trusted. Kept here because its sequence soon passes the mark again. */
  readonly suspect?: string | undefined;
}

export interface Witness {
  /**
   * The mark of the ledger that was last used in this place, if that was another one than `id`; else the
   * highest mark that any process has noted of `id`, under whatever address. `undefined` if neither is known.
   */
  read(id: string): Promise<Mark | undefined>;
  /** What a process has found against ledger `id`, until a person trusts it. Called often: must be cheap. */
  doubt(id: string): Promise<Mark | undefined>;
  /** Records the ledger's sequence. Called before anything is sent; must not block for long. */
  note(mark: Mark): void;
  /** Makes this the mark of its ledger and the ledger of this place, and records who trusted it. */
  trust(mark: Mark, by: string, at: number): Promise<void>;
  close(): void;
}

/** Why the store cannot be trusted, or `undefined`. */
export function suspicion(
  seen: Mark | undefined,
  found: Pick<Incarnation, "id" | "sequence">,
): string | undefined {
  if (!seen || seen.suspect !== undefined) return seen?.suspect;
  if (seen.id !== found.id) {
    return `the ledger is not the one seen before (its id is ${found.id}, it was ${seen.id})`;
  }
  if (found.sequence < seen.sequence) {
    return `the ledger is older than the one seen before (its sequence is ${found.sequence}, it was ${seen.sequence})`;
  }
  return undefined;
}

/** A witness in memory: it notices a loss only while the process runs. */
export function memoryWitness(): Witness {
  let seen: Mark | undefined;
  return {
    read: async () => seen,
    doubt: async () => (seen?.suspect === undefined ? undefined : seen),
    note(mark) {
      // Several ledgers may share it, so a doubt stays until `trust`.
      const suspect = mark.suspect ?? seen?.suspect;
      seen = suspect === undefined ? mark : { ...mark, suspect };
    },
    async trust(mark) {
      seen = mark;
    },
    close() {},
  };
}
