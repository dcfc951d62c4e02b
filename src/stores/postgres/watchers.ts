/**
 * Tells waiting callers that a record may have changed: at once when it was changed through this
 * store, by NOTIFY when it was changed through another.
 *
 * @module
 */

import type { Clock } from "../../lang/clock.ts";
import type { Connection, Listening } from "./client.ts";

export interface Watchers {
  watch(key: string, changed: () => void): () => void;
  /** Tells of a change made through this store. */
  announce(key: string): void;
  close(): Promise<void>;
}

export interface WatcherOptions {
  readonly connection: Pick<Connection, "listen">;
  readonly clock: Clock;
  /** Resolves when the ledger is open: the channel is named after it. */
  readonly channel: () => Promise<string>;
  /** Asks all processes to announce changes of `key` for so many milliseconds. */
  readonly register: (key: string, forMs: number) => Promise<void>;
}

/** How long others announce a record, and how soon that is asked for again. */
const REGISTERED_MS = 60_000;
const RENEW_MS = 40_000;
/** A connection that no caller needs goes back after this: waiting callers come and go. */
const IDLE_MS = 10_000;
/** Bounds the memory; past it everything is registered again. */
const MAX_REGISTERED = 10_000;

export function createWatchers({ connection, clock, channel, register }: WatcherOptions): Watchers {
  const watchers = new Map<string, Set<() => void>>();
  const registered = new Map<string, number>();
  let listening: Promise<Listening | undefined> | undefined;
  let stopIdle: (() => void) | undefined;
  let closed = false;

  function announce(key: string): void {
    for (const watcher of watchers.get(key) ?? []) {
      try {
        watcher();
      } catch {
        // Watching must not change what happens.
      }
    }
  }

  const announceAll = (): void => {
    for (const key of watchers.keys()) announce(key);
  };

  async function beginListening(): Promise<Listening | undefined> {
    return connection.listen?.(await channel(), {
      heard: announce,
      // Notifications sent while it did not listen are made up for by one read each.
      restarted: announceAll,
      ended() {
        listening = undefined;
        announceAll();
      },
    });
  }

  async function stopListening(): Promise<void> {
    const stopping = listening;
    listening = undefined;
    await (await stopping?.catch(() => undefined))?.stop();
  }

  /** Callers poll as well, so what fails here is only slower. */
  async function hearOf(key: string): Promise<void> {
    listening ??= beginListening();
    const mine = listening;
    try {
      if (!(await mine) || closed) return;
    } catch {
      if (listening === mine) listening = undefined;
      return;
    }
    if (clock.monotonic() < (registered.get(key) ?? Number.NEGATIVE_INFINITY)) return;
    if (registered.size >= MAX_REGISTERED) registered.clear();
    registered.set(key, clock.monotonic() + RENEW_MS);
    try {
      await register(key, REGISTERED_MS);
      // It may have changed before other processes knew that this one waits.
      announce(key);
    } catch {
      registered.delete(key);
    }
  }

  return {
    announce,

    watch(key, changed) {
      const those = watchers.get(key) ?? new Set();
      // Wrapped, so that the same function given twice is called twice and stopped once.
      const watcher = () => changed();
      watchers.set(key, those.add(watcher));
      stopIdle?.();
      stopIdle = undefined;
      void hearOf(key);
      return () => {
        those.delete(watcher);
        if (those.size === 0 && watchers.get(key) === those) watchers.delete(key);
        if (watchers.size > 0 || stopIdle || closed) return;
        stopIdle = clock.after(IDLE_MS, () => void stopListening(), true);
      };
    },

    async close() {
      closed = true;
      watchers.clear();
      stopIdle?.();
      await stopListening().catch(() => {});
    },
  };
}
