/**
 * A flag that is raised once and can be listened to: the part of an `AbortSignal` that the engine
 * needs. A real one costs a `DOMException` for every abort, and every attempt ends in one.
 *
 * @module
 */

/** What a real `AbortSignal` has, too. */
export interface StopSignal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void, options?: { readonly once: true }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

export interface Stop {
  readonly signal: StopSignal;
  abort(): void;
}

/** Each listener is called once, in the order of arrival. */
export function createStop(): Stop {
  let aborted = false;
  let listeners: Set<() => void> | undefined;
  return {
    signal: {
      get aborted() {
        return aborted;
      },
      addEventListener(_type, listener) {
        listeners ??= new Set();
        if (!aborted) listeners.add(listener);
      },
      removeEventListener(_type, listener) {
        listeners?.delete(listener);
      },
    },
    abort() {
      if (aborted) return;
      aborted = true;
      const all = listeners;
      listeners = undefined;
      for (const listener of all ?? []) listener();
    },
  };
}
