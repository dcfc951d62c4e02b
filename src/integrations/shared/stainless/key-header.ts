/**
 * Puts the key on a request of an SDK, whatever form its headers have. A header the caller gave wins.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";

const NAME = "Idempotency-Key";

/** The SDKs' own form: values, and the names of headers to leave out. Marked by a symbol we copy. */
interface NullableHeaders {
  readonly values: Headers;
  readonly nulls: Set<string>;
}

export function withKey(headers: unknown, key: string): unknown {
  if (headers === undefined || headers === null) return { [NAME]: key };
  if (isNullable(headers)) {
    if (headers.nulls.has(NAME.toLowerCase()) || headers.values.has(NAME)) return headers;
    const values = new Headers(headers.values);
    values.set(NAME, key);
    return { ...headers, values };
  }
  const rows = isIterable(headers) ? [...headers] : Object.entries(headers);
  if (rows.some((row) => isKeyName(peek(row, 0)))) return headers;
  return isIterable(headers) ? [...rows, [NAME, key]] : { ...headers, [NAME]: key };
}

/** These headers as they are now: the caller may use the object for its next request before this one is sent. */
export function ownHeaders(headers: unknown): unknown {
  if (typeof headers !== "object" || headers === null) return headers;
  if (isNullable(headers)) {
    return { ...headers, values: new Headers(headers.values), nulls: new Set(headers.nulls) };
  }
  if (!isIterable(headers)) return { ...headers };
  return Array.from(headers, (row) => (Array.isArray(row) ? [...row] : row));
}

/** Whether these headers name a key of the caller's, or leave it out on purpose. */
export const namesKey = (headers: unknown): boolean =>
  headers !== undefined && headers !== null && withKey(headers, "") === headers;

const isKeyName = (name: unknown): boolean =>
  typeof name === "string" && name.toLowerCase() === NAME.toLowerCase();

const isIterable = (value: unknown): value is Iterable<unknown> =>
  typeof peek(value, Symbol.iterator) === "function";

const isNullable = (value: unknown): value is NullableHeaders =>
  peek(value, "values") instanceof Headers && peek(value, "nulls") instanceof Set;
