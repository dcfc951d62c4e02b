/**
 * Tells waiting callers that a record may have changed: at once when this store changed it, by a
 * channel when another process did.
 *
 * A caller that waits watches, reads, and watches again. So a channel stays subscribed for a while
 * without a watcher: subscribing each time anew would make the wait a busy loop.
 *
 * @module
 */

import type { Channels, Connection } from "./client.ts";

export interface Watchers {
  watch(key: string, changed: () => void): () => void;
  /** Whether any record is watched, or was a short time ago. */
  any(): boolean;
  /** Tells of a change to the record of this key. */
  announce(key: string): void;
  close(): void;
}

interface Watched {
  readonly watchers: Set<() => void>;
  subscribed: boolean;
  /** It changed while there was no watcher. */
  missed: boolean;
}

/** How many channels without a watcher stay subscribed. */
const IDLE_CHANNELS = 100;

/** A channel has the name of its key, with the prefix that the client gives to keys. */
export function createWatchers(
  { openChannels }: Connection,
  readKeyPrefix: () => Promise<string>,
): Watchers {
  const records = new Map<string, Watched>();
  /** Those without a watcher, the one that has been so for longest first. */
  const idle = new Set<string>();
  let channels: Channels | undefined;
  let keyPrefix = "";
  let closed = false;

  function announce(key: string): void {
    const watched = records.get(key);
    if (!watched) return;
    watched.missed = watched.watchers.size === 0;
    for (const watcher of watched.watchers) {
      try {
        watcher();
      } catch {
        // A watcher that throws must not disturb the write.
      }
    }
  }

  async function subscribe(key: string, watched: Watched): Promise<void> {
    watched.subscribed = true;
    try {
      keyPrefix = await readKeyPrefix();
      if (closed) return;
      channels ??= openChannels?.((channel) => announce(channel.slice(keyPrefix.length)));
      await channels?.subscribe(keyPrefix + key);
      // It may have changed before the subscription stood.
      if (channels) announce(key);
    } catch {
      // Callers also poll, and the next watcher tries again.
      watched.subscribed = false;
    }
  }

  function unsubscribe(key: string): void {
    records.delete(key);
    idle.delete(key);
    channels?.unsubscribe(keyPrefix + key).catch(() => {});
  }

  return {
    any: () => records.size > 0,
    announce,

    watch(key, changed) {
      const watched = records.get(key) ?? { watchers: new Set(), subscribed: false, missed: false };
      records.set(key, watched);
      idle.delete(key);
      // Wrapped, so that one function registered twice is called twice and removed one at a time.
      const watcher = () => changed();
      watched.watchers.add(watcher);
      if (!watched.subscribed) void subscribe(key, watched);
      else if (watched.missed) queueMicrotask(() => announce(key));
      return () => {
        if (!watched.watchers.delete(watcher) || watched.watchers.size > 0 || closed) return;
        idle.add(key);
        for (const oldest of idle) if (idle.size > IDLE_CHANNELS) unsubscribe(oldest);
      };
    },

    close() {
      closed = true;
      for (const key of records.keys()) unsubscribe(key);
      channels?.close();
    },
  };
}
