/** What the service remembers of keys: the answer it gave, or that it is at it. */

import type { Timeline } from "./clock.ts";
import { failure, type Reply } from "./reply.ts";
import { TIMES } from "./settings.ts";

export interface Slot {
  /** The answer to a repeated key; `undefined` if it is new, and then it is being worked on. */
  begin(): Reply | undefined;
  keep(reply: Reply): void;
  /** Nothing was begun under this key after all. */
  forget(): void;
}

export interface Memory {
  slot(key: string): Slot;
}

export function createMemory(time: Timeline): Memory {
  const known = new Map<string, { readonly since: number; reply: Reply | undefined }>();
  const recall = (key: string) => {
    const entry = known.get(key);
    return entry && time.now() - entry.since < TIMES.keyMemory ? entry : undefined;
  };
  return {
    slot: (key) => ({
      begin() {
        const entry = recall(key);
        if (entry) return entry.reply ? replayed(entry.reply) : failure("running", 409);
        known.set(key, { since: time.now(), reply: undefined });
        return undefined;
      },
      keep(reply) {
        const entry = known.get(key);
        if (entry) entry.reply = reply;
      },
      forget: () => void known.delete(key),
    }),
  };
}

const replayed = (reply: Reply): Reply => (reply.said === "error" ? failure("error", 500) : reply);
