/**
 * Lets a listener run what an event announces inside a function of its own, e.g. a tracing context.
 *
 * What is announced runs once and without delay, whatever the listener does: a wrap that throws, does not
 * call `run` or calls it twice changes nothing.
 *
 * @module
 */

/** Must call `run` before it returns, e.g. `(run) => context.with(mine, run)`. */
export type Wrap = (run: () => unknown) => unknown;

export type Around = (wrap: Wrap) => void;

export interface Surrounding {
  /** The `around` of the event. */
  readonly around: Around;
  /** Runs `fn` inside all wraps. */
  run<T>(fn: () => Promise<T>): Promise<T>;
}

export function surrounding(): Surrounding {
  const wraps: Wrap[] = [];
  return {
    around(wrap) {
      wraps.push(wrap);
    },
    run<T>(fn: () => Promise<T>): Promise<T> {
      if (wraps.length === 0) return fn();
      const started: Promise<T>[] = [];
      const once = (): Promise<T> => {
        const running = started[0] ?? fn();
        if (started.length === 0) started.push(running);
        return running;
      };
      const outermost = wraps.reduce<() => unknown>((inner, wrap) => () => wrap(inner), once);
      try {
        const returned = outermost();
        if (returned instanceof Promise) returned.catch(() => {});
      } catch {
        // A wrap must not change what happens.
      }
      return once();
    },
  };
}
