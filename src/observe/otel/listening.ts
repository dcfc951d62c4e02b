/**
 * What listens to events needs: to be removed together, and a memory with a limit for what may never come to its end.
 *
 * @module
 */

import { putBounded } from "../../lang/bounded.ts";
import type { EventName, Events, Listener } from "../events.ts";

export interface Listening {
  on<N extends EventName>(name: N, listener: Listener<N>): void;
  stop(): void;
}

export function listening(to: Pick<Events, "on">): Listening {
  const stops: (() => void)[] = [];
  return {
    on(name, listener) {
      stops.push(to.on(name, listener));
    },
    stop() {
      for (const stop of stops.splice(0)) stop();
    },
  };
}

const MOST = 10_000;

export interface Bounded<V> {
  put(name: string, value: V): void;
  take(name: string): V | undefined;
}

/** The oldest entry is removed first. */
export function bounded<V>(): Bounded<V> {
  const values = new Map<string, V>();
  return {
    put(name: string, value: V): void {
      putBounded(values, name, value, MOST);
    },
    take(name: string): V | undefined {
      const value = values.get(name);
      values.delete(name);
      return value;
    },
  };
}
