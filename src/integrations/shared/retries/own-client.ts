/**
 * What each `ownRetries` begins with: a client that is the right one, and methods put in the place of its own.
 *
 * `docs/write-an-adapter.md` has the list of what a new client in this package needs.
 *
 * @module
 */

import { engineOf } from "../../../engine/engine-of.ts";
import { InvalidInputError } from "../../../errors.ts";
import { KNOWN_CLIENTS } from "./retry-catalogue.ts";

/** What `createHoldfire()` returns, as far as it matters here. */
export interface HoldfireLike {
  on(...args: never[]): unknown;
  close(): Promise<void>;
}

/** Refuses what is not the client that is `wanted`, and says what would have been right. */
export function checkClient(hf: HoldfireLike, isWanted: boolean, wanted: string): void {
  engineOf(hf);
  if (isWanted) return;
  const known = KNOWN_CLIENTS.flatMap(({ name, subpath }) =>
    subpath === undefined ? [] : [`${name} (${subpath})`],
  );
  const rule = `is not ${wanted}. ownRetries knows: ${known.join(", ")}.`;
  throw new InvalidInputError("client", rule);
}

const replaced = new WeakSet<object>();

/** Puts a function around the method that an object has itself or by its class; once. */
export function replaceMethod<F extends (this: never, ...args: never[]) => unknown>(
  holder: object,
  name: string,
  around: (original: F) => F,
): void {
  const original: unknown = Reflect.get(holder, name);
  if (replaced.has(Object(original))) return;
  const value = around(original as F);
  replaced.add(value);
  const { enumerable = false } = Object.getOwnPropertyDescriptor(holder, name) ?? {};
  Object.defineProperty(holder, name, { value, enumerable, configurable: true, writable: true });
}

/** The object in the chain that has the method itself: its class, as a rule. */
export function holderOf(object: unknown, method: string): object | undefined {
  let holder: unknown = object;
  while (typeof holder === "object" && holder !== null) {
    const found = Object.getOwnPropertyDescriptor(holder, method);
    if (found) return typeof found.value === "function" ? holder : undefined;
    holder = Object.getPrototypeOf(holder);
  }
  return undefined;
}
