/**
 * Who in this process wants to hear of a change.
 *
 * @module
 */

export interface Watchers {
  add(tenant: string, id: string, changed: () => void): () => void;
  announce(tenant: string, id: string): void;
  clear(): void;
}

export function createWatchers(): Watchers {
  const tenants = new Map<string, Map<string, Set<() => void>>>();

  return {
    add(tenant, id, changed) {
      const ids = tenants.get(tenant) ?? new Map<string, Set<() => void>>();
      tenants.set(tenant, ids);
      const those = ids.get(id) ?? new Set();
      // Wrapped, so that the same function given twice is called twice and stopped once.
      const watcher = () => changed();
      ids.set(id, those.add(watcher));
      return () => {
        those.delete(watcher);
        if (those.size > 0 || ids.get(id) !== those) return;
        ids.delete(id);
        if (ids.size === 0 && tenants.get(tenant) === ids) tenants.delete(tenant);
      };
    },

    announce(tenant, id) {
      for (const watcher of tenants.get(tenant)?.get(id) ?? []) {
        try {
          watcher();
        } catch {
          // Watching must not change what happens.
        }
      }
    },

    clear: () => tenants.clear(),
  };
}
