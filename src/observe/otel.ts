/**
 * Spans and metrics for OpenTelemetry. Subpath export `"holdfire/otel"`.
 *
 * Nothing of OpenTelemetry is imported: what is used is what the user passes.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import type { Events } from "./events.ts";
import type {
  ApiLike,
  MeterLike,
  MeterProviderLike,
  TracerLike,
  TracerProviderLike,
} from "./otel/api.ts";
import { contextsOf } from "./otel/contexts.ts";
import { listening } from "./otel/listening.ts";
import { countMetrics } from "./otel/metrics.ts";
import { traceSpans } from "./otel/spans.ts";

export { keyHash } from "./key-hash.ts";
export type {
  ApiLike,
  ContextLike,
  CounterLike,
  HistogramLike,
  MeterLike,
  MeterProviderLike,
  SpanLike,
  TracerLike,
  TracerProviderLike,
} from "./otel/api.ts";

export interface InstrumentOptions {
  /**
   * `@opentelemetry/api` itself. Spans and metrics go to what is registered with it, and whatever a tool
   * traces in its `run` becomes a child of the attempt's span.
   */
  readonly api?: ApiLike | undefined;
  /** Makes the spans. @default one named `holdfire` of `tracerProvider`, or of `api` */
  readonly tracer?: TracerLike | undefined;
  readonly tracerProvider?: TracerProviderLike | undefined;
  /** Makes the metrics. @default one named `holdfire` of `meterProvider`, or of `api` */
  readonly meter?: MeterLike | undefined;
  readonly meterProvider?: MeterProviderLike | undefined;
}

const OPTIONS = ["api", "tracer", "tracerProvider", "meter", "meterProvider"];

/** Traces and counts what this holdfire does, for its tenant. Returns the function that stops it. */
export function instrument(hf: Pick<Events, "on">, options: InstrumentOptions): () => void {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name)) throw new InvalidInputError(`options.${name}`, "is not an option");
  }
  const { api } = options;
  const tracer = options.tracer ?? (options.tracerProvider ?? api?.trace)?.getTracer("holdfire");
  const meter = options.meter ?? (options.meterProvider ?? api?.metrics)?.getMeter("holdfire");
  if (!tracer && !meter) {
    throw new InvalidInputError(
      "options",
      "must name where telemetry goes: api, tracer, tracerProvider, meter or meterProvider",
    );
  }
  const { on, stop } = listening(hf);
  if (tracer) traceSpans(on, tracer, contextsOf(api));
  if (meter) countMetrics(on, meter);
  return stop;
}
