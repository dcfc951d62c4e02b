/**
 * Counts work that is under way, and tells when there is none.
 *
 * @module
 */

export interface Pending {
  begin(): void;
  end(): void;
  count(): number;
  /** Resolves when none is under way; more may have begun by the time that this is heard. */
  none(): Promise<void>;
}

export function createPending(): Pending {
  let count = 0;
  let waiting: (() => void)[] = [];
  return {
    begin() {
      count += 1;
    },
    end() {
      count -= 1;
      if (count > 0) return;
      const all = waiting;
      waiting = [];
      for (const resolve of all) resolve();
    },
    count: () => count,
    none: () => (count === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}
