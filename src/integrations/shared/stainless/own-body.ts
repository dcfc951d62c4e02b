/**
 * A copy of a request's body, which is hashed and sent in its place: the ledger is read in between, and the program may have
 * gone on with its messages by then.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";

/** `undefined` if JSON cannot carry it. */
export function ownBody(body: unknown): unknown {
  try {
    return copied(body);
  } catch {
    return undefined;
  }
}

function copied(value: unknown): unknown {
  if (typeof value !== "object" || value === null || isRaw(value)) return value;
  if (Array.isArray(value)) return Array.from(value, copied);
  if (isPlain(value)) return copiedObject(value);
  // A date, an object of a class, or one that says its own JSON: what JSON makes of it now.
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === Object.prototype || prototype === null) &&
    typeof peek(value, "toJSON") !== "function"
  );
}

/** With what is not enumerable, as it is: the SDKs hide the parsers of an answer there. */
function copiedObject(value: object): object {
  const copy = Object.create(Object.getPrototypeOf(value));
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    const own = { enumerable: true, configurable: true, writable: true };
    const { enumerable } = descriptor;
    Object.defineProperty(
      copy,
      name,
      enumerable ? { ...own, value: copied(Reflect.get(value, name)) } : descriptor,
    );
  }
  return copy;
}

/** Of `JSON.rawJSON`: it cannot be changed, and a copy would be another object. */
const isRaw = (value: object): boolean =>
  (JSON as { isRawJSON?: (value: object) => boolean }).isRawJSON?.(value) === true;
