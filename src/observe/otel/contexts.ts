/**
 * Which span is whose parent. With the api at hand, contexts are the user's own; without it, one that
 * holds the parent alone.
 *
 * @module
 */

import type { ApiLike, ContextLike, SpanLike } from "./api.ts";

export interface Contexts {
  /** What is active here; `undefined` leaves it to the tracer. */
  active(): ContextLike | undefined;
  /** Whether a span is active that a caller of ours can see. */
  hasSpan(context: ContextLike | undefined): boolean;
  /** The same with this span in it. */
  holding(context: ContextLike | undefined, span: SpanLike): ContextLike;
  /** Runs inside it, as far as that can be done. */
  run(context: ContextLike, fn: () => unknown): unknown;
}

export function contextsOf(api: ApiLike | undefined): Contexts {
  if (!api) {
    return {
      active: () => undefined,
      hasSpan: () => false,
      holding: (_, span) => contextWith(new Map([[SPAN, span]])),
      run: (_, fn) => fn(),
    };
  }
  const { trace, context } = api;
  return {
    active: () => context.active(),
    hasSpan: (active) => trace.getSpan((active ?? context.active()) as never) !== undefined,
    holding: (active, span) => trace.setSpan((active ?? context.active()) as never, span as never),
    run: (active, fn) => context.with(active as never, fn),
  };
}

/** The api makes its keys by `Symbol.for`, so that copies of it in one process understand each other. */
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

function contextWith(values: ReadonlyMap<symbol, unknown>): ContextLike {
  return {
    getValue: (key) => values.get(key),
    setValue: (key, value) => contextWith(new Map([...values, [key, value]])),
    deleteValue: (key) => contextWith(new Map([...values].filter(([other]) => other !== key))),
  };
}
