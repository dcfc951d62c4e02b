/**
 * Owns the retries of a LangChain chat model.
 *
 * LangChain's loop is the model's `caller`, of which ChatOpenAI has three, and each call may set its
 * own count. So all of them are put to 0 whenever the model works, and its work is the sample. The
 * methods are replaced on the model's class: `bindTools` and `withConfig` of ChatOpenAI make new
 * models, also before this was called, and these are known by the fields they share. Models that
 * are not owned work as before.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { AnswerFacts } from "../../engine/reads-and-samples/model-call.ts";
import type { SampleOptions } from "../../engine/reads-and-samples/sample.ts";
import { peek, tryCall } from "../../lang/peek.ts";
import { modelName, providerName } from "../shared/retries/model-names.ts";
import {
  checkClient,
  type HoldfireLike,
  holderOf,
  replaceMethod,
} from "../shared/retries/own-client.ts";
import {
  checkOwner,
  own,
  ownerOf,
  type SampleOwner,
  sampled,
  sampledStream,
} from "../shared/retries/sampled-call.ts";
import { followMade, makesModels, partsOf } from "./inner-models.ts";

/** A chat model of LangChain, by structure: this file imports nothing from it. */
export interface ChatModel {
  invoke(...args: never[]): Promise<unknown>;
  stream(...args: never[]): Promise<unknown>;
}

type CallOptions = { readonly signal?: AbortSignal | undefined } | undefined;
type Work = (this: object, messages: unknown, options: CallOptions, run: unknown) => unknown;
type Call = (
  this: unknown,
  options: object,
  callable: () => unknown,
  ...args: unknown[]
) => unknown;

/**
 * Makes holdfire the only one that retries this model and what `bindTools` and `withConfig` made or
 * will make of it, and returns the model.
 *
 * Each call is a sample: sent as often as `attempts` says, whatever `maxRetries` says, with
 * LangChain's own errors. A stream is tried again until its first chunk has come. Two models built
 * from one and the same fields object are owned together.
 *
 * @example
 * ```ts
 * const model = ownRetries(new ChatOpenAI({ model: "gpt-5" }), hf, { attempts: 3 });
 * ```
 */
export function ownRetries<M extends ChatModel>(
  model: M,
  hf: HoldfireLike,
  options: SampleOptions = {},
): M {
  const owner = checkOwner(hf, options);
  const parts = partsOf(model);
  checkClient(hf, parts.some(isChat), "a chat model of LangChain");
  for (const part of parts) ownPart(part, owner);
  return model;
}

function ownPart(part: object, owner: SampleOwner): void {
  // The loop of `withRetry`.
  if (typeof peek(part, "maxAttemptNumber") === "number") Reflect.set(part, "maxAttemptNumber", 1);
  if (!isChat(part)) return;
  own(part, owner);
  const fields = fieldsOf(part);
  if (fields) own(fields, owner);
  const maker = makesModels(part) && holderOf(part, "_getModelInstance");
  if (maker) {
    followMade(maker, ownMade);
    return;
  }
  replace(part, "_generate", generate);
  replace(part, "_streamResponseChunks", stream);
  replace(part, "_streamChatModelEvents", stream);
  quiet(part);
}

function ownMade(maker: object, made: unknown): void {
  const owner = ownerIn(maker);
  if (owner) for (const part of partsOf(made)) ownPart(part, owner);
}

const isChat = (model: object): boolean =>
  isCaller(peek(model, "caller")) && typeof peek(model, "_generate") === "function";

const isCaller = (caller: unknown): boolean =>
  typeof peek(caller, "callWithOptions") === "function";

/** What a model shares with those that were made of it; one of `initChatModel` has another name for it. */
function fieldsOf(model: object): object | undefined {
  const fields = peek(model, "fields") ?? peek(model, "_defaultConfig");
  return typeof fields === "object" && fields !== null ? fields : undefined;
}

function ownerIn(model: object): SampleOwner | undefined {
  const fields = fieldsOf(model);
  return ownerOf(model) ?? (fields && ownerOf(fields));
}

const generate = (original: Work): Work =>
  function (messages, options, run) {
    const owner = ownerIn(this);
    if (!owner) return original.call(this, messages, options, run);
    quiet(this);
    const send = async () => original.call(this, messages, { ...options, ...NEVER }, run);
    const call = { ...named(this), step: "generate", signal: options?.signal, send };
    return sampled({ ...call, facts: factsIn }, owner);
  };

const stream = (original: Work): Work =>
  function (messages, options, run) {
    const owner = ownerIn(this);
    if (!owner) return original.call(this, messages, options, run);
    quiet(this);
    const open = () =>
      original.call(this, messages, { ...options, ...NEVER }, run) as AsyncIterable<unknown>;
    return sampledStream({ ...named(this), step: "stream", signal: options?.signal, open }, owner);
  };

const NEVER = { maxRetries: 0 };

function named(model: object) {
  const { name } = model.constructor;
  const told = tryCall(model, "getLsParams", {});
  const provider = modelName(told, "ls_provider") ?? name.replace(/^Chat/, "");
  return {
    client: `langchain:${name}`,
    asked: {
      operation: "chat",
      provider: providerName(provider),
      model: modelName(told, "ls_model_name") ?? modelName(model, "model"),
    },
  };
}

/** What LangChain has made of the usage: the message of each generation has it. */
function factsIn(result: unknown): AnswerFacts {
  const message = peek(peek(peek(result, "generations"), "0"), "message");
  const usage = peek(message, "usage_metadata");
  const count = (name: string): number | undefined => {
    const tokens = peek(usage, name);
    return Number.isSafeInteger(tokens) ? (tokens as number) : undefined;
  };
  const told = peek(message, "response_metadata");
  return {
    inputTokens: count("input_tokens"),
    outputTokens: count("output_tokens"),
    responseModel: modelName(told, "model_name") ?? modelName(told, "model"),
  };
}

/** Replaces a method where the model's class has it, once. */
function replace(model: object, name: string, around: (original: Work) => Work): void {
  const holder = holderOf(model, name);
  // The base class has stubs, by whose presence it tells what a model can do.
  if (holder && !Object.hasOwn(holder, "_generateUncached")) replaceMethod(holder, name, around);
}

/** Puts every count of the model to 0: its callers', and the one it hands to its client. */
function quiet(model: object): void {
  for (const part of [model, peek(model, "completions"), peek(model, "responses")]) {
    const config = peek(part, "clientConfig");
    if (typeof config === "object" && config !== null) Reflect.set(config, "maxRetries", 0);
    const caller = peek(part, "caller");
    if (typeof caller !== "object" || caller === null || !isCaller(caller)) continue;
    Reflect.set(caller, "maxRetries", 0);
    keepContext(caller);
  }
}

/** Behind a `maxConcurrency` a call is started where another one ends: it must stay in its attempt. */
function keepContext(caller: object): void {
  replaceMethod<Call>(
    caller,
    "callWithOptions",
    (original) =>
      (options, callable, ...args) =>
        original.call(caller, options, AsyncLocalStorage.bind(callable), ...args),
  );
}
