/**
 * A flag that is raised once and can be listened to: the part of an `AbortSignal` that the engine
 * needs. A real one makes a `DOMException` for every abort.
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
  let listeners: (() => void)[] = [];
  const signal = {
    aborted: false,
    addEventListener(_type: "abort", listener: () => void) {
      if (!signal.aborted && !listeners.includes(listener)) listeners.push(listener);
    },
    removeEventListener(_type: "abort", listener: () => void) {
      const at = listeners.indexOf(listener);
      if (at >= 0) listeners = listeners.toSpliced(at, 1);
    },
  };
  return {
    signal,
    abort() {
      if (signal.aborted) return;
      signal.aborted = true;
      const all = listeners;
      listeners = [];
      for (const listener of all) listener();
    },
  };
}
