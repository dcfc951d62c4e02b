/**
 * What the types of OpenAI's tools tell, in each of the shapes that the SDK runs: the name, the arguments after the
 * tool's own parser, and what its function returns.
 *
 * @module
 */

import type { FirstArgument } from "../shared/tools/rules.ts";

// biome-ignore lint/suspicious/noExplicitAny: functions of any arguments
type Any = any;
type Fn = (...args: Any[]) => unknown;

type Result<F> = F extends (...args: Any[]) => infer R
  ? [Awaited<R>] extends [never]
    ? Any
    : Awaited<R>
  : Any;
/** `Record<string, unknown>` says nothing of the arguments. */
type Named<A> = string extends keyof A ? Any : A;
type NameOf<T> = T extends { readonly name: infer N extends string } ? N : string;

interface Types<N extends string, A, R> {
  readonly name: N;
  readonly args: A;
  readonly result: R;
}

/** `zodFunction` and `zodResponsesFunction`. */
type Parsed<T, D> = T extends { readonly $parseRaw: (text: string) => infer A }
  ? Types<NameOf<D>, A, Result<NonNullable<T extends { readonly $callback: infer F } ? F : never>>>
  : never;

/** `{ function: { function, parse } }`. Without a parser the function gets text, and a rule what the text says. */
type Plain<D> = D extends { readonly function: infer F extends Fn }
  ? Types<
      NameOf<D>,
      D extends { readonly parse: (text: string) => infer A } ? Awaited<A> : Any,
      Result<F>
    >
  : never;

/** Of one tool; `never` for one that has no function. */
export type OpenAiToolTypes<T> = T extends { readonly $brand: unknown }
  ? Parsed<T, T extends { readonly function: infer D } ? D : T>
  : T extends { readonly tool: infer D; readonly execute: infer F }
    ? Types<NameOf<D>, Named<FirstArgument<F>>, Result<F>>
    : T extends { readonly function: infer D }
      ? Plain<D>
      : never;
