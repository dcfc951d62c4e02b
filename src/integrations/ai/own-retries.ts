/**
 * Owns the retries of a model of the AI SDK: language, embedding, image, video, speech, transcription,
 * reranking.
 *
 * The SDK retries around the model and has no switch for it, neither in the model nor in its provider.
 * What ends its loop is an error that is not retryable, so that is what leaves an owned call.
 *
 * @module
 */

import { statusOf } from "../../classify/answer.ts";
import type { Ended } from "../../classify/classify.ts";
import { isRetryableRead } from "../../classify/http.ts";
import type { AnswerFacts } from "../../engine/reads-and-samples/model-call.ts";
import type { SampleOptions } from "../../engine/reads-and-samples/sample.ts";
import { peek } from "../../lang/peek.ts";
import { modelName, providerName } from "../shared/retries/model-names.ts";
import { checkClient, type HoldfireLike, replaceMethod } from "../shared/retries/own-client.ts";
import {
  type AskedOf,
  checkOwner,
  type FailureFacts,
  own,
  type SampleOwner,
  sampledOpen,
} from "../shared/retries/sampled-call.ts";

/** A model of the AI SDK, by structure: this file imports nothing from the SDK. */
export interface AiModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

type Method = (options: unknown) => PromiseLike<unknown>;

/** What the SDK calls a model by, all around a retry: `doGenerate`, `doStream`, `doEmbed`, `doStart`, `doStatus`, … */
const CALL = /^do[A-Z]/;

/** The model's own methods and those of its classes. */
function callsOf(model: unknown): readonly string[] {
  if (typeof model !== "object" || model === null) return [];
  const names = [...Object.getOwnPropertyNames(model), ...callsOf(Object.getPrototypeOf(model))];
  const isCall = (name: string) => CALL.test(name) && typeof peek(model, name) === "function";
  return [...new Set(names.filter(isCall))];
}

/**
 * Makes holdfire the only one that retries this model, and returns the model.
 *
 * Each call is a sample: sent as often as `attempts` says, whatever `maxRetries` says. Its error is
 * the SDK's own, with `isRetryable` set to `false`, for holdfire has tried. A stream is tried again
 * until its answer has begun.
 *
 * @example
 * ```ts
 * const model = ownRetries(openai("gpt-5"), hf, { attempts: 3 });
 * await generateText({ model, prompt });
 * ```
 */
export function ownRetries<M extends AiModel>(
  model: M,
  hf: HoldfireLike,
  options: SampleOptions = {},
): M {
  const owner = checkOwner(hf, options);
  const methods = callsOf(model);
  const isModel = typeof peek(model, "specificationVersion") === "string" && methods.length > 0;
  checkClient(hf, isModel, "a model of the AI SDK");
  return own(model, owner, (current) => {
    for (const method of methods) ownMethod(model, method, current);
  });
}

function ownMethod(model: AiModel, name: string, current: () => SampleOwner): void {
  replaceMethod<Method>(model, name, (original) => async (options) => {
    const { answer, isHeard, ended } = await sampledOpen(
      {
        client: `ai:${model.provider}`,
        step: name.slice(2).toLowerCase(),
        signal: peek(options, "abortSignal") as AbortSignal | undefined,
        asked: askedOf(model, name),
        send: () => original.call(model, options),
        read: readFailure,
      },
      current(),
    );
    if (isHeard && name === "doStream") return untilRead(answer, ended);
    ended(factsIn(answer));
    return answer;
  });
}

/** The same answer; its call has ended when its stream has, or its reader has left. The last part has the usage. */
function untilRead(answer: unknown, ended: (facts: AnswerFacts) => void): unknown {
  const stream = peek(answer, "stream");
  if (!(stream instanceof ReadableStream)) {
    ended({});
    return answer;
  }
  let facts: AnswerFacts = {};
  const see = (part: unknown): void => {
    const { inputTokens, outputTokens } = factsIn(part);
    const responseModel = modelName(part, "modelId") ?? facts.responseModel;
    facts =
      peek(part, "type") === "finish"
        ? { inputTokens, outputTokens, responseModel }
        : { responseModel };
  };
  const watched = watchStream(stream, see, (partial) => ended({ ...facts, partial }));
  return { ...(answer as object), stream: watched };
}

/** What is asked of the model; nothing where only an answer that is on its way is looked for. */
const askedOf = (model: AiModel, method: string): AskedOf | undefined =>
  method === "doStatus"
    ? undefined
    : {
        operation: operationOf(model, method),
        provider: providerName(model.provider),
        model: model.modelId,
      };

/** A language model generates and streams; one that only generates makes pictures, speech or text of speech. */
function operationOf(model: AiModel, method: string): string {
  if (method === "doEmbed") return "embeddings";
  if (method === "doRerank" || method === "doDecide") return method.slice(2).toLowerCase();
  return typeof peek(model, "doStream") === "function" ? "chat" : "generate_content";
}

/** The usage of an answer: a number each, or from version 3 of the specification on an object with the total. */
function factsIn(answer: unknown): AnswerFacts {
  const usage = peek(answer, "usage");
  const count = (name: string): number | undefined => {
    const told = peek(usage, name);
    const total = typeof told === "object" ? peek(told, "total") : told;
    return Number.isSafeInteger(total) ? (total as number) : undefined;
  };
  return {
    inputTokens: count("inputTokens") ?? count("tokens"),
    outputTokens: count("outputTokens"),
    responseModel: modelName(peek(answer, "response"), "modelId"),
  };
}

function readFailure(ended: Ended<unknown>): FailureFacts | undefined {
  if (ended.ok) return undefined;
  const { error } = ended;
  const status = statusOf(error);
  const isRetryable = peek(error, "isRetryable") === true;
  if (status === undefined && !isRetryable) return undefined;
  // A body that broke off has the status of its head, and is retryable all the same.
  const spoke = !isRetryable || (status !== undefined && isRetryableRead(status));
  return { status: spoke ? status : undefined, headers: peek(error, "responseHeaders") };
}

/**
 * The reader's pace, its cancelling and the stream's errors stay as they are. `ended` is called once: `partial` if the stream
 * broke off or its reader has left.
 */
function watchStream<T>(
  stream: ReadableStream<T>,
  see: (part: T) => void,
  ended: (partial: boolean) => void,
): ReadableStream<T> {
  const reader = stream.getReader();
  return new ReadableStream<T>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) {
            ended(false);
            controller.close();
            return;
          }
          see(value);
          controller.enqueue(value);
        } catch (error) {
          ended(true);
          throw error;
        }
      },
      async cancel(reason) {
        ended(true);
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
