/**
 * The watchers of records in this process, for a store whose changes all callers of the process make
 * through it.
 *
 * @module
 */

export interface Watchers {
  /** Returns how to stop. */
  watch(tenant: string, id: string, changed: () => void): () => void;
  /** Calls those that watch the record. */
  announce(tenant: string, id: string): void;
  clear(): void;
}

export function createWatchers(): Watchers {
  const watchers = new Map<string, Set<() => void>>();
  return {
    watch(tenant, id, changed) {
      const name = nameOf(tenant, id);
      const those = watchers.get(name) ?? new Set();
      // Wrapped, so that one function registered twice is called twice and removed one at a time.
      const watcher = () => changed();
      watchers.set(name, those.add(watcher));
      return () => {
        those.delete(watcher);
        if (those.size === 0 && watchers.get(name) === those) watchers.delete(name);
      };
    },

    announce(tenant, id) {
      if (watchers.size === 0) return;
      for (const watcher of watchers.get(nameOf(tenant, id)) ?? []) {
        try {
          watcher();
        } catch {
          // A failing watcher must not fail the write.
        }
      }
    },

    clear: () => watchers.clear(),
  };
}

/** Not joined by a separator: names of two tenants cannot collide. */
const nameOf = (tenant: string, id: string): string => JSON.stringify([tenant, id]);
