/**
 * Reads properties of untrusted values: a tool may throw a proxy, or an object whose getters throw,
 * and reading it must not fail a second time.
 *
 * @module
 */

/** The property, or `undefined` if there is none or reading it throws. Primitives have none. */
export function peek(value: unknown, key: PropertyKey): unknown {
  if ((typeof value !== "object" || value === null) && typeof value !== "function") {
    return undefined;
  }
  try {
    return Reflect.get(value, key);
  } catch {
    return undefined;
  }
}

/** Calls the method; returns `undefined` if there is none or it throws. */
export function tryCall(value: unknown, method: PropertyKey, ...args: unknown[]): unknown {
  const found = peek(value, method);
  if (typeof found !== "function") return undefined;
  try {
    return Reflect.apply(found, value, args);
  } catch {
    return undefined;
  }
}

/** The elements of an array, at most `limit` of them; none for any other value. */
export function peekItems(value: unknown, limit: number): readonly unknown[] {
  try {
    return Array.isArray(value) ? Array.prototype.slice.call(value, 0, limit) : [];
  } catch {
    return [];
  }
}

const MAX_CAUSES = 8;

/** The value and its chain of `cause`s, outermost first; a cycle ends the chain. */
export function causes(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  let link = error;
  while (link !== undefined && link !== null && chain.length <= MAX_CAUSES) {
    if (chain.includes(link)) break;
    chain.push(link);
    link = peek(link, "cause");
  }
  return chain;
}

export function ignoreRejection<T>(value: T): T {
  if (value instanceof Promise) value.catch(() => {});
  return value;
}
