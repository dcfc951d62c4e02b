/**
 * Lets those who watch put something around what an event announces: a tracing context, say.
 *
 * What is announced runs once and at once, whatever they do: a wrap that throws, forgets to call or
 * calls twice changes nothing.
 *
 * @module
 */

/** Must call `run` before it returns, e.g. `(run) => context.with(mine, run)`. */
export type Wrap = (run: () => unknown) => unknown;

export type Around = (wrap: Wrap) => void;

export interface Surrounding {
  /** For the event. */
  readonly around: Around;
  /** Runs inside all that was put around. */
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
        // see the header
      }
      return once();
    },
  };
}
