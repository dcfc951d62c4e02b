/**
 * Argument types that JSON can carry. Arguments are kept in the ledger and compared there, so a `Date` is refused when
 * a call is made; here it is refused when the tool is compiled.
 *
 * @module
 */

import type { Json } from "../../key/json.ts";

type Primitive = string | number | boolean | null | undefined;

type NotJson =
  | Date
  | RegExp
  | URL
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | ArrayBufferLike
  | ArrayBufferView
  | PromiseLike<unknown>
  | bigint
  | symbol
  | ((...args: never[]) => unknown);

/**
 * The same type, if JSON can carry it: arguments are kept in the ledger, and compared there. `A extends JsonArguments<A>`
 * is what a function of your own asks for that hands its argument type on to `hf.tool`.
 */
export type JsonArguments<A> = { [K in keyof A]: JsonValue<A[K]> };

type JsonValue<V> = [V] extends [Json]
  ? V
  : V extends Primitive
    ? V
    : V extends NotJson
      ? never
      : V extends object
        ? JsonArguments<V>
        : V;

/** The arguments of a `run` can be given and taken, so a bound on their type would not refuse a `Date`; this does. */
export type TakesJson<A> = unknown extends A
  ? unknown
  : [A] extends [JsonValue<A>]
    ? unknown
    : { readonly run: "Arguments are JSON. Take a date as text or as a number." };

/** Of a `run` that takes none. If yours does: annotate its arguments, or give the tool an `input`. */
// biome-ignore lint/suspicious/noEmptyInterface: its name is what a compiler says of arguments without a type
export interface NoArguments {}
