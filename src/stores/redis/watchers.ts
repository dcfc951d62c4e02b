/**
 * Tells waiting callers that a record may have changed: at once when it was changed through this
 * store, by a channel when it was changed through another.
 *
 * @module
 */

import type { Connection, Subscriber } from "./connection.ts";

export interface Watchers {
  watch(channel: string, changed: () => void): () => void;
  /** A change made here. */
  announce(channel: string): void;
  close(): void;
}

/** One channel: who listens, and the last thing done about the subscription. */
interface Listening {
  readonly watchers: Set<() => void>;
  done: Promise<void>;
}

/** `isOurs` knows the messages of this store's own writes, which were announced already. */
export function createWatchers(
  { subscriber: makeSubscriber }: Pick<Connection, "subscriber">,
  isOurs: (message: string) => boolean,
): Watchers {
  const channels = new Map<string, Listening>();
  let subscriber: Subscriber | undefined;
  let closed = false;

  function announce(channel: string): void {
    for (const watcher of channels.get(channel)?.watchers ?? []) {
      try {
        watcher();
      } catch {
        // Watching must not change what happens.
      }
    }
  }

  async function subscribe(channel: string): Promise<void> {
    if (!makeSubscriber || closed) return;
    try {
      subscriber ??= makeSubscriber();
      await subscriber.subscribe(channel, (message) => {
        if (!isOurs(message)) announce(channel);
      });
      // It may have changed before anybody listened.
      announce(channel);
    } catch {
      // Callers poll too.
    }
  }

  async function unsubscribe(channel: string): Promise<void> {
    if (!closed) await subscriber?.unsubscribe(channel).catch(() => {});
  }

  return {
    announce,

    watch(channel, changed) {
      const listening = channels.get(channel) ?? { watchers: new Set(), done: Promise.resolve() };
      // Wrapped, so that the same function given twice is called twice and stopped once.
      const watcher = () => changed();
      listening.watchers.add(watcher);
      if (!channels.has(channel)) channels.set(channel, listening);
      if (listening.watchers.size === 1) {
        listening.done = listening.done.then(() => subscribe(channel));
      }
      return () => {
        if (!listening.watchers.delete(watcher) || listening.watchers.size > 0) return;
        listening.done = listening.done.then(async () => {
          if (listening.watchers.size > 0) return;
          channels.delete(channel);
          await unsubscribe(channel);
        });
      };
    },

    close() {
      closed = true;
      channels.clear();
      try {
        subscriber?.close();
      } catch {
        // It was closed already.
      }
    },
  };
}
