/**
 * What is under way. Who has the time waits for its end; who has not tears it down.
 *
 * @module
 */

export interface OpenWork {
  /** Begins one; the returned function says that it is over. `tearDown` ends it, and lets that be said as usual. */
  hold(tearDown?: () => void): () => void;
  /** Resolves when nothing is open; `undefined` if nothing is now. */
  quiet(): Promise<void> | undefined;
  /** Ends all that can be ended. */
  tearDown(): void;
}

export function createOpenWork(): OpenWork {
  const open = new Set<{ readonly tearDown: (() => void) | undefined }>();
  let waiting: (() => void)[] = [];
  return {
    hold(tearDown) {
      const one = { tearDown };
      open.add(one);
      return () => {
        if (!open.delete(one) || open.size > 0) return;
        for (const resolve of waiting) resolve();
        waiting = [];
      };
    },
    quiet: () => (open.size === 0 ? undefined : new Promise((resolve) => waiting.push(resolve))),
    tearDown() {
      for (const { tearDown } of [...open]) {
        try {
          tearDown?.();
        } catch {
          // It calls code of others. What that leaves open is no reason to leave the rest open.
        }
      }
    },
  };
}
