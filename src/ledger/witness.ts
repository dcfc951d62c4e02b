/**
 * A witness remembers, outside the store, which ledger this was and how far it had come. A store that
 * comes back as another, or younger than it was, has lost data: then a missing row proves nothing.
 *
 * @module
 */

import type { Incarnation } from "./store.ts";

/** What a witness has seen of a store. */
export interface Mark {
  /** The incarnation's id. */
  readonly id: string;
  /** The highest sequence seen. */
  readonly sequence: number;
  /** When this ledger was first seen here: what it lost was not sent before. */
  readonly since: number;
  /** Why it is not believed. It grows on all the same, so this outlives the process that found out. */
  readonly suspect?: string | undefined;
}

export interface Witness {
  /** The furthest mark of any process, or nothing if the store was never seen here. */
  read(): Promise<Mark | undefined>;
  /** A mark with a doubt of any process, until it is trusted. Asked often: must be cheap. */
  doubt(): Promise<Mark | undefined>;
  /** Notes how far the store has come. Called before anything is sent; must not block for long. */
  note(mark: Mark): void;
  /** Forgets all marks but this one, and keeps who said so. */
  trust(mark: Mark, by: string, at: number): Promise<void>;
  close(): void;
}

/** Why the store cannot be believed, or `undefined`. */
export function suspicion(
  seen: Mark | undefined,
  found: Pick<Incarnation, "id" | "sequence">,
): string | undefined {
  if (!seen || seen.suspect !== undefined) return seen?.suspect;
  if (seen.id !== found.id) {
    return `the ledger is another one than before (${found.id}, it was ${seen.id})`;
  }
  if (found.sequence < seen.sequence) {
    return `the ledger is younger than before (sequence ${found.sequence}, it was ${seen.sequence})`;
  }
  return undefined;
}

/** For a store whose loss is noticed only while the process lives. */
export function memoryWitness(): Witness {
  let seen: Mark | undefined;
  return {
    read: async () => seen,
    doubt: async () => (seen?.suspect === undefined ? undefined : seen),
    note(mark) {
      // Several may share it: a doubt ends by trust alone.
      const suspect = mark.suspect ?? seen?.suspect;
      seen = suspect === undefined ? mark : { ...mark, suspect };
    },
    async trust(mark) {
      seen = mark;
    },
    close() {},
  };
}
