/**
 * The real SDKs of OpenTelemetry, exporting into memory.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import * as api from "@opentelemetry/api";
import { MeterProvider, MetricReader } from "@opentelemetry/sdk-metrics";
import {
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { onTestFinished } from "vitest";

export interface Point {
  readonly name: string;
  readonly unit: string;
  readonly attributes: api.Attributes;
  /** Of a histogram: how many. */
  readonly value: number;
  /** Of a histogram only. */
  readonly sum?: number | undefined;
}

export interface Telemetry {
  /** The options of `instrument`. */
  readonly where: {
    readonly tracerProvider: TracerProvider;
    readonly meterProvider: MeterProvider;
  };
  spans(): ReadableSpan[];
  points(name?: string): Promise<Point[]>;
}

class AtHand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

export function telemetry(): Telemetry {
  const exporter = new InMemorySpanExporter();
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
  });
  const reader = new AtHand();
  const meterProvider = new MeterProvider({ readers: [reader] });
  return {
    where: { tracerProvider, meterProvider },
    spans: () => exporter.getFinishedSpans(),
    async points(name) {
      const { resourceMetrics } = await reader.collect();
      const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
      return metrics
        .filter(({ descriptor }) => name === undefined || descriptor.name === name)
        .flatMap(({ descriptor, dataPoints }) =>
          dataPoints.map(({ attributes, value }): Point => {
            const about = { name: descriptor.name, unit: descriptor.unit, attributes };
            if (typeof value === "number") return { ...about, value };
            return { ...about, value: value.count, sum: "sum" in value ? value.sum : undefined };
          }),
        );
    },
  };
}

/** What the Node SDK registers: the active context follows the calls. */
export function registerContexts(): void {
  const contexts = new AsyncLocalStorage<api.Context>();
  const manager: api.ContextManager = {
    active: () => contexts.getStore() ?? api.ROOT_CONTEXT,
    with: (context, fn, thisArg, ...args) =>
      contexts.run(context, () => Reflect.apply(fn, thisArg, args)),
    bind: (context, target) =>
      typeof target === "function"
        ? (((...args: unknown[]) => contexts.run(context, () => target(...args))) as never)
        : target,
    enable: () => manager,
    disable: () => manager,
  };
  api.context.setGlobalContextManager(manager);
  onTestFinished(() => api.context.disable());
}

export const parentOf = (span: ReadableSpan): string | undefined => span.parentSpanContext?.spanId;
export const idOf = (span: ReadableSpan | undefined): string | undefined =>
  span?.spanContext().spanId;
