/**
 * Owns the retries of `@openai/agents`: of an OpenAI client for it, of a model, or of a model provider.
 *
 * The runner's own setting does not reach the client's retries; the note by which the runner tells a
 * model that it retries itself does, so each request carries that note.
 *
 * @module
 */

import type { SampleOptions } from "../../engine/reads-and-samples/sample.ts";
import { peek } from "../../lang/peek.ts";
import { type OpenAIClient, ownRetries as ownClient } from "../openai/own-retries.ts";
import { modelName } from "../shared/retries/model-names.ts";
import { checkClient, type HoldfireLike, replaceMethod } from "../shared/retries/own-client.ts";
import {
  checkOwner,
  own,
  type SampleOwner,
  sampled,
  sampledStream,
} from "../shared/retries/sampled-call.ts";
import type { OwnOptions } from "../shared/stainless/own-options.ts";

/** A model of the agents SDK, by structure: this file imports nothing from it. */
export interface AgentModel {
  getResponse(request: never): Promise<unknown>;
  getStreamedResponse(request: never): AsyncIterable<unknown>;
}

/** What the SDK gets its models from. */
export interface AgentModelProvider {
  getModel(name?: string): unknown;
}

interface ModelRequest {
  readonly signal?: AbortSignal | undefined;
  readonly _internal?: object | undefined;
}

/**
 * Makes holdfire the only one that retries, and returns what it was given.
 *
 * A client is owned as by `holdfire/openai` and goes to `setDefaultOpenAIClient` or to a model. A
 * model's requests are samples, sent as often as `attempts` says; `modelSettings.retry` is told that
 * they have been tried. Of a provider, every model is owned.
 *
 * @example
 * ```ts
 * setDefaultOpenAIClient(ownRetries(new OpenAI(), hf, { attempts: 3 }));
 * ```
 */
export function ownRetries<C extends OpenAIClient>(
  client: C,
  hf: HoldfireLike,
  options?: OwnOptions,
): C;
export function ownRetries<M extends AgentModel | AgentModelProvider>(
  model: M,
  hf: HoldfireLike,
  options?: SampleOptions,
): M;
export function ownRetries<C extends object>(
  target: C,
  hf: HoldfireLike,
  options: OwnOptions = {},
): C {
  if (typeof peek(target, "getResponse") === "function") {
    return ownModel(target, checkOwner(hf, options));
  }
  if (typeof peek(target, "getModel") === "function") {
    return ownProvider(target, checkOwner(hf, options));
  }
  const isClient = typeof peek(target, "withOptions") === "function";
  checkClient(hf, isClient, "an OpenAI client, a model or a model provider of @openai/agents");
  ownClient(target as C & OpenAIClient, hf, options);
  return target;
}

function ownProvider<P extends object>(provider: P, owner: SampleOwner): P {
  return own(provider, owner, (current) => {
    replaceMethod<Method>(provider, "getModel", (original) => async (name) => {
      const model: unknown = await original.call(provider, name);
      return typeof model === "object" && model !== null ? ownModel(model, current()) : model;
    });
  });
}

function ownModel<M extends object>(model: M, owner: SampleOwner): M {
  return own(model, owner, (current) => {
    replaceMethod<Method>(model, "getResponse", (original) => (request) => {
      const send = async () => original.call(model, noted(request));
      const call = {
        ...CALL,
        ...askedOf(model),
        step: "response",
        signal: signalOf(request),
        send,
      };
      return sampled(call, current());
    });
    replaceMethod<Method>(model, "getStreamedResponse", (original) => (request) => {
      const open = () => original.call(model, noted(request)) as AsyncIterable<unknown>;
      const call = { ...CALL, ...askedOf(model), step: "stream", signal: signalOf(request), open };
      return sampledStream(call, current());
    });
    replaceMethod<Method>(model, "getRetryAdvice", () => () => ADVICE);
  });
}

const CALL = { client: "openai-agents" };

/** The models of the SDK itself keep their name as `_model`; other models may ask any provider. */
function askedOf(model: object) {
  const name = modelName(model, "_model");
  const provider = name === undefined ? CALL.client : "openai";
  return { asked: { operation: "chat", provider, model: name } };
}

/** What the runner asks for before it retries on its own. */
const ADVICE = {
  suggested: false,
  replaySafety: "unsafe",
  reason: "holdfire has tried it as often as it may",
};

const noted = (request: unknown): unknown => {
  const { _internal, ...rest } = request as ModelRequest;
  return { ...rest, _internal: { ..._internal, runnerManagedRetry: true } };
};

const signalOf = (request: unknown) => (request as ModelRequest).signal;

type Method = (this: unknown, argument: unknown) => unknown;
