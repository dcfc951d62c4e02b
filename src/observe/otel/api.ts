/**
 * The parts of `@opentelemetry/api` that are used here. Any version that has them works.
 *
 * @module
 */

type Attributes = Record<string, string | number | boolean>;

/** A `Span` of `@opentelemetry/api`. */
export interface SpanLike {
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number }): unknown;
  end(): void;
}

/** A `Context` of `@opentelemetry/api`. */
export interface ContextLike {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): ContextLike;
  deleteValue(key: symbol): ContextLike;
}

/** A `Tracer` of `@opentelemetry/api`. */
export interface TracerLike {
  startSpan(
    name: string,
    options?: { kind?: number; attributes?: Attributes },
    context?: ContextLike,
  ): SpanLike;
}

/** A `TracerProvider` of `@opentelemetry/api`. */
export interface TracerProviderLike {
  getTracer(name: string, version?: string): TracerLike;
}

interface InstrumentOptionsLike {
  description?: string;
  unit?: string;
  advice?: { explicitBucketBoundaries?: number[] };
}

/** A `Counter` of `@opentelemetry/api`. */
export interface CounterLike {
  add(value: number, attributes?: Attributes): void;
}

/** A `Histogram` of `@opentelemetry/api`. */
export interface HistogramLike {
  record(value: number, attributes?: Attributes): void;
}

/** A `Meter` of `@opentelemetry/api`. */
export interface MeterLike {
  createCounter(name: string, options?: InstrumentOptionsLike): CounterLike;
  createHistogram(name: string, options?: InstrumentOptionsLike): HistogramLike;
}

/** A `MeterProvider` of `@opentelemetry/api`. */
export interface MeterProviderLike {
  getMeter(name: string, version?: string): MeterLike;
}

/** `@opentelemetry/api` itself: `import * as api from "@opentelemetry/api"`. */
export interface ApiLike {
  readonly trace: TracerProviderLike & {
    getSpan(context: never): unknown;
    setSpan(context: never, span: never): ContextLike;
  };
  readonly metrics: MeterProviderLike;
  readonly context: {
    active(): ContextLike;
    with(context: never, fn: () => unknown): unknown;
  };
}

/** `SpanKind.INTERNAL`, `SpanKind.CLIENT` and `SpanStatusCode.ERROR`. */
export const INTERNAL = 0;
export const CLIENT = 2;
export const ERROR = 2;
