/**
 * One value per name, made when it is first asked for, and not kept for ever: it lives as long as the program uses it
 * anywhere, and as long as its name is among the latest.
 *
 * @module
 */

import { putBounded } from "./bounded.ts";

export function recent<T extends object>(make: () => T, most: number): (name: string) => T {
  const living = new Map<string, WeakRef<T>>();
  const latest = new Map<string, T>();
  const gone = new FinalizationRegistry<string>((name) => {
    if (!living.get(name)?.deref()) living.delete(name);
  });
  return (name) => {
    let value = living.get(name)?.deref();
    if (!value) {
      value = make();
      living.set(name, new WeakRef(value));
      gone.register(value, name);
    }
    putBounded(latest, name, value, most);
    return value;
  };
}
