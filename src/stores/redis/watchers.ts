/**
 * Tells waiting callers that a record may have changed: at once when it was changed through this
 * store, by a channel when it was changed through another.
 *
 * @module
 */

import type { Connection, Subscriber } from "./connection.ts";

export interface Watchers {
  watch(key: string, changed: () => void): () => void;
  /** Whether anybody waits here. */
  any(): boolean;
  /** A change made here. */
  announce(key: string): void;
  close(): void;
}

/** One record: who listens, and how far the subscription has come. */
interface Listening {
  readonly watchers: Set<() => void>;
  subscribed: boolean;
  /** Settles when all that was asked for so far has been done. Never rejects. */
  tended: Promise<void>;
}

/** `channelOf` tells the channel of a record by its key, once that can be known. */
export function createWatchers(
  { subscriber: makeSubscriber }: Pick<Connection, "subscriber">,
  channelOf: (key: string) => Promise<string>,
): Watchers {
  const records = new Map<string, Listening>();
  let subscriber: Subscriber | undefined;
  let closed = false;

  function announce(key: string): void {
    for (const watcher of records.get(key)?.watchers ?? []) {
      try {
        watcher();
      } catch {
        // Watching must not change what happens.
      }
    }
  }

  /** Subscribes or unsubscribes, as is wanted when its turn comes. */
  async function tend(key: string, listening: Listening): Promise<void> {
    const { watchers } = listening;
    try {
      if (watchers.size > 0 && !listening.subscribed && makeSubscriber && !closed) {
        const channel = await channelOf(key);
        subscriber ??= makeSubscriber();
        await subscriber.subscribe(channel, () => announce(key));
        listening.subscribed = true;
        // It may have changed before anybody listened.
        announce(key);
      }
      if (watchers.size === 0 && listening.subscribed && !closed) {
        listening.subscribed = false;
        await subscriber?.unsubscribe(await channelOf(key));
      }
    } catch {
      // Callers poll too; and the next of them tries anew.
    }
    if (watchers.size === 0) records.delete(key);
  }

  return {
    any: () => records.size > 0,

    announce,

    watch(key, changed) {
      const listening = records.get(key) ?? {
        watchers: new Set(),
        subscribed: false,
        tended: Promise.resolve(),
      };
      records.set(key, listening);
      const turn = () => {
        listening.tended = listening.tended.then(() => tend(key, listening));
      };
      // Wrapped, so that the same function given twice is called twice and stopped once.
      const watcher = () => changed();
      listening.watchers.add(watcher);
      turn();
      return () => {
        if (listening.watchers.delete(watcher) && listening.watchers.size === 0) turn();
      };
    },

    close() {
      closed = true;
      records.clear();
      try {
        subscriber?.close();
      } catch {
        // It was closed already.
      }
    },
  };
}
