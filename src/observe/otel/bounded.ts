/**
 * A map with a limit, for what may never come to its end.
 *
 * @module
 */

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
      values.set(name, value);
      const [oldest] = values.keys();
      if (values.size > MOST && oldest !== undefined) values.delete(oldest);
    },
    take(name: string): V | undefined {
      const value = values.get(name);
      values.delete(name);
      return value;
    },
  };
}
