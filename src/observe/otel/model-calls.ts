/**
 * Model calls, as OpenTelemetry's conventions for GenAI have them: a client span for each call, over all its requests and until its
 * answer has been read; how long it took; and the tokens of each answer. No prompts and no answers.
 *
 * @module
 */

import type { HoldfireEvents } from "../events.ts";
import { errorType } from "../redacted.ts";
import { CLIENT, type MeterLike, type SpanLike, type TracerLike } from "./api.ts";
import { attributes, ERROR_TYPE, GEN_AI_OPERATION } from "./attributes.ts";
import type { Contexts } from "./contexts.ts";
import { bounded, type Listening } from "./listening.ts";
import { end } from "./spans.ts";

type Answer = HoldfireEvents["model_answer"];
type Asked = Pick<Answer, "operation" | "provider" | "model">;

const ofAsked = ({ operation, provider, model }: Asked) => ({
  [GEN_AI_OPERATION]: operation,
  "gen_ai.provider.name": provider,
  "gen_ai.request.model": model,
});

const RESPONSE_MODEL = "gen_ai.response.model";

export function traceModelCalls(on: Listening["on"], tracer: TracerLike, contexts: Contexts): void {
  const open = bounded<SpanLike>();
  on("model_call", (event) => {
    const { id, operation, model, around } = event;
    const name = model === undefined ? operation : `${operation} ${model}`;
    const active = contexts.active();
    const how = { kind: CLIENT, attributes: attributes(ofAsked(event)) };
    const span = tracer.startSpan(name, how, active);
    open.put(id, span);
    around((run) => contexts.run(contexts.holding(active, span), run));
  });
  on("model_answer", (event) => {
    const span = open.take(event.id);
    if (!span) return;
    end(span, {
      [RESPONSE_MODEL]: event.responseModel,
      "gen_ai.usage.input_tokens": event.inputTokens,
      "gen_ai.usage.output_tokens": event.outputTokens,
      "holdfire.attempts": event.attempts,
      "holdfire.replayed": event.replayed,
      [ERROR_TYPE]: failureOf(event),
    });
  });
}

/** The boundaries that the conventions give. */
const SECONDS = [
  ...[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64],
  ...[1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

export function countModelCalls(on: Listening["on"], meter: MeterLike): void {
  const seconds = meter.createHistogram("gen_ai.client.operation.duration", {
    unit: "s",
    description: "GenAI operation duration.",
    advice: { explicitBucketBoundaries: SECONDS },
  });
  on("model_answer", (event) => {
    // Nothing was sent.
    if (event.replayed) return;
    const of = { ...ofAsked(event), [RESPONSE_MODEL]: event.responseModel };
    const { durationMs } = event;
    seconds.record(durationMs / 1_000, attributes({ ...of, [ERROR_TYPE]: failureOf(event) }));
  });

  const tokens = meter.createHistogram("gen_ai.client.token.usage", {
    unit: "{token}",
    description: "Number of input and output tokens used.",
    advice: { explicitBucketBoundaries: TOKENS },
  });
  on("usage", (event) => {
    const { inputTokens, outputTokens } = event;
    const of = (type: string) => attributes({ ...ofAsked(event), "gen_ai.token.type": type });
    if (inputTokens !== undefined) tokens.record(inputTokens, of("input"));
    if (outputTokens !== undefined) tokens.record(outputTokens, of("output"));
  });
}

/** The status of an answer that is an error, the code of a failure, or that the answer broke off. */
function failureOf({ status, error, partial }: Answer): string | undefined {
  if (status !== undefined) return String(status);
  if (error !== undefined) return errorType(error);
  return partial ? "partial" : undefined;
}
