/**
 * Spans and metrics for OpenTelemetry. Subpath export `"holdfire/otel"`.
 *
 * It imports nothing from OpenTelemetry and uses what the user passes.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import { VERSION } from "../version.ts";
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
import { countModelCalls, traceModelCalls } from "./otel/model-calls.ts";
import { traceSpans } from "./otel/spans.ts";

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
export { keyHash } from "./redacted.ts";

export interface InstrumentOptions {
  /**
   * `@opentelemetry/api` itself. Spans and metrics go to the providers registered with it, and spans that
   * a tool starts in its `run` become children of the attempt's span.
   */
  readonly api?: ApiLike | undefined;
  /** Creates the spans. @default one named `holdfire` from `tracerProvider`, or of `api` */
  readonly tracer?: TracerLike | undefined;
  readonly tracerProvider?: TracerProviderLike | undefined;
  /** Creates the metrics. @default one named `holdfire` from `meterProvider`, or of `api` */
  readonly meter?: MeterLike | undefined;
  readonly meterProvider?: MeterProviderLike | undefined;
}

const OPTIONS = ["api", "tracer", "tracerProvider", "meter", "meterProvider"];

/** Creates spans and metrics for what this holdfire does in its tenant. Returns the function that stops it. */
export function instrument(hf: Pick<Events, "on">, options: InstrumentOptions): () => void {
  for (const name of Object.keys(options)) {
    if (!OPTIONS.includes(name))
      throw new InvalidInputError(`options.${name}`, "is not an option.");
  }
  const { api } = options;
  const tracer =
    options.tracer ?? (options.tracerProvider ?? api?.trace)?.getTracer("holdfire", VERSION);
  const meter =
    options.meter ?? (options.meterProvider ?? api?.metrics)?.getMeter("holdfire", VERSION);
  if (!tracer && !meter) {
    throw new InvalidInputError(
      "options",
      "must name at least one of api, tracer, tracerProvider, meter and meterProvider.",
    );
  }
  const { on, stop } = listening(hf);
  if (tracer) {
    traceSpans(on, tracer, contextsOf(api));
    traceModelCalls(on, tracer, contextsOf(api));
  }
  if (meter) {
    countMetrics(on, meter);
    countModelCalls(on, meter);
  }
  return stop;
}
