/**
 * Decides which span is the parent of which. With the api, contexts are the user's own; without it, a
 * context contains the parent span only.
 *
 * @module
 */

import type { ApiLike, ContextLike, SpanLike } from "./api.ts";

export interface Contexts {
  /** The active context; `undefined` leaves it to the tracer. */
  active(): ContextLike | undefined;
  /** Whether the context has a span. */
  hasSpan(context: ContextLike | undefined): boolean;
  /** The same context with this span in it. */
  holding(context: ContextLike | undefined, span: SpanLike): ContextLike;
  /** Runs `fn` inside the context; without the api, just runs it. */
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

/** The api creates its keys with `Symbol.for`, so that several copies of it in one process share them. */
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

function contextWith(values: ReadonlyMap<symbol, unknown>): ContextLike {
  return {
    getValue: (key) => values.get(key),
    setValue: (key, value) => contextWith(new Map([...values, [key, value]])),
    deleteValue: (key) => contextWith(new Map([...values].filter(([other]) => other !== key))),
  };
}
