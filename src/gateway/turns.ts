/**
 * Runs work by name: what has the same name one after the other, the rest at once.
 *
 * @module
 */

export interface Turns {
  /** Runs it once all before it of this name has ended, however it ended. */
  run<T>(name: string, work: () => Promise<T>): Promise<T>;
  isBusy(name: string): boolean;
  /** Resolves when nothing runs or waits. */
  idle(): Promise<void>;
}

export function createTurns(): Turns {
  const turns = new Map<string, Promise<unknown>>();
  return {
    run(name, work) {
      const before = turns.get(name) ?? Promise.resolve();
      const mine = before.then(work, work);
      const settled = mine
        .catch(() => {})
        .then(() => {
          if (turns.get(name) === settled) turns.delete(name);
        });
      turns.set(name, settled);
      return mine;
    },
    isBusy: (name) => turns.has(name),
    async idle() {
      while (turns.size > 0) await Promise.allSettled(turns.values());
    },
  };
}
