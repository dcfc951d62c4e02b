/**
 * OpenTelemetry for the examples, on as in production. The spans stay in memory; yours go to your exporter.
 *
 * @module
 */

import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Holdfire } from "holdfire";
import { instrument } from "holdfire/otel";

/** Returns what reads the spans that have ended. */
export function trace(hf: Pick<Holdfire, "on">): () => readonly ReadableSpan[] {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  instrument(hf, { tracerProvider });
  return () => exporter.getFinishedSpans();
}
