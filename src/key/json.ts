/**
 * The values that JSON can carry, which is what an intent can be; and which objects it cannot, because their
 * state would be lost: a Map would become `{}`.
 *
 * @module
 */

import { shorten } from "./show-path.ts";

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [name: string]: Json;
}

export const isJsonObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The rule that the object breaks, or `undefined` if it is plain. Runs none of the object's code. */
export function whyNotPlain(object: object): string | undefined {
  const prototype: object | null = Object.getPrototypeOf(object);
  if (prototype === Object.prototype || prototype === null) return undefined;
  if (isObjectPrototype(prototype)) return undefined;
  return `must be plain data, not an instance of ${className(prototype)}.`;
}

/** Also the one of another realm, as test runners and `node:vm` have. */
function isObjectPrototype(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

function className(prototype: object): string {
  const maker: unknown = own(prototype, "constructor");
  const name = typeof maker === "function" ? own(maker, "name") : undefined;
  return typeof name === "string" && name !== "" ? JSON.stringify(shorten(name)) : "a class";
}

/** Read from the descriptor, because a getter must not run. */
const own = (object: object, name: string): unknown =>
  Object.getOwnPropertyDescriptor(object, name)?.value;
