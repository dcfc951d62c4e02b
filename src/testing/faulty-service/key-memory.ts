/**
 * What a keyed service knows of the keys it has seen, as Stripe does: it replays the first answer,
 * failures included, refuses a key in use, and forgets.
 *
 * @module
 */

import { type Answer, errorAnswer } from "./answer.ts";

interface Entry {
  readonly identity: string;
  readonly since: number;
  /** `undefined` while the first request is still running. */
  answer: Answer | undefined;
}

/** A request that is the first with its key. */
export interface KeyHold {
  /** Stores the answer for all that come after. */
  settle(answer: Answer): void;
  /** Forgets the key: nothing was done. */
  release(): void;
}

export interface KeyMemory {
  /** Returns what to answer if the key is known, and holds the key if it is not. */
  take(key: string, identity: string): Answer | KeyHold;
}

export function createKeyMemory(now: () => number, keyMemoryMs: number): KeyMemory {
  const entries = new Map<string, Entry>();

  // A running request holds its key however long it runs.
  const remembered = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    const forgotten = entry?.answer && now() - entry.since >= keyMemoryMs;
    return forgotten ? undefined : entry;
  };

  return {
    take(key, identity) {
      const known = remembered(key);
      if (known) return answerTo(known, identity);
      const entry: Entry = { identity, since: now(), answer: undefined };
      entries.set(key, entry);
      return {
        settle(answer) {
          entry.answer = answer;
        },
        release() {
          entries.delete(key);
        },
      };
    },
  };
}

function answerTo(known: Entry, identity: string): Answer {
  if (known.identity !== identity) return errorAnswer(422, "idempotency_error");
  if (known.answer === undefined) return errorAnswer(409, "idempotency_key_in_use");
  const { status, headers, body } = known.answer;
  return { status, body, headers: { ...headers, "idempotent-replayed": "true" } };
}
