/**
 * Clients of `@google/genai` whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/genai"`.
 *
 * @module
 */

import type { Ended } from "../../classify/classify.ts";
import { isRetryableRead } from "../../classify/http.ts";
import type { SampleOptions } from "../../engine/reads-and-samples/sample.ts";
import { peek, tryCall } from "../../lang/peek.ts";
import { checkClient, type HoldfireLike, replaceMethod } from "../shared/retries/own-client.ts";
import {
  type AskedOf,
  checkOwner,
  type FailureFacts,
  own,
  type SampleOwner,
  sampled,
  unanswered,
} from "../shared/retries/sampled-call.ts";

/** A client of `@google/genai`, by structure: this file imports nothing from it. */
export interface GenAiClient {
  readonly models: object;
  readonly chats: object;
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Makes holdfire the only one that retries this client, and returns the client.
 *
 * Each request that reads or asks a model is a sample: sent as often as `attempts` says, whatever `retryOptions` or `retries`
 * say, here or in a call. One that makes a batch, a file, a video or an agent is sent once.
 *
 * @example
 * ```ts
 * const ai = ownRetries(new GoogleGenAI({ apiKey }), hf, { attempts: 3 });
 * ```
 */
export function ownRetries<C extends GenAiClient>(
  client: C,
  hf: HoldfireLike,
  options: SampleOptions = {},
): C {
  const owner = checkOwner(hf, options);
  const api = peek(client, "apiClient");
  checkClient(hf, typeof peek(api, "apiCall") === "function", "a GoogleGenAI client");
  // It is two clients in one. `models` and its like retry only if told to; `interactions`, `agents` and
  // the other generated ones retry four times, and no setting of the client reaches them. Each has one
  // method that all its requests go through.
  return own(client, owner, (current) => {
    ownModels(api as object, current);
    ownGenerated(client, current);
  });
}

type Current = () => SampleOwner;

function ownModels(api: object, current: Current): void {
  replace(api, "apiCall", (original, url, init, _retryOptions, timeout, signal, fetch) => {
    const method = String(peek(init, "method") ?? "POST");
    return sampled(
      {
        client: CLIENT,
        step: method,
        once: !isRead(method) && !ASKS.has(verbIn(url).verb),
        asked: askedAt(url, api),
        signal: signal as AbortSignal | undefined,
        send: async () => original(url, init, undefined, timeout, signal, fetch),
        read: (ended) => (ended.ok ? refusal(ended.value) : undefined),
      },
      current(),
    );
  });
}

const isRead = (method: unknown): boolean => method === "GET" || method === "HEAD";

/** `…/models/gemini-3:generateContent`: the verb says what is asked for, of whatever has the name before it. */
function verbIn(url: unknown): { readonly name: string; readonly verb: string } {
  const path = URL.parse(String(url))?.pathname ?? "";
  const [, name = "", verb = ""] = /\/([^/:]{1,200}):(\w{1,40})$/.exec(path) ?? [];
  return { name, verb };
}

/**
 * What asks a model, or how a job of it stands; and what OpenTelemetry calls it. All other verbs are taken to make something,
 * such as a job (`predictLongRunning`, `batchGenerateContent`, `asyncBatchEmbedContent`).
 */
const ASKS: ReadonlyMap<string, string | undefined> = new Map([
  ["generateContent", "generate_content"],
  ["streamGenerateContent", "generate_content"],
  ["embedContent", "embeddings"],
  ["batchEmbedContents", "embeddings"],
  ["countTokens", undefined],
  ["computeTokens", undefined],
  ["predict", undefined],
  ["fetchPredictOperation", undefined],
]);
const ASKS_BY_ID = "CreateInteraction";

/** The generated clients are made when they are first used, some with a warning. */
function ownGenerated(client: object, current: Current): void {
  const getters = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(client));
  for (const [name, { get }] of Object.entries(getters)) {
    if (!get) continue;
    const owned = () => ownService(get.call(client), current);
    Object.defineProperty(client, name, { get: owned, configurable: true });
    if (peek(client, `_${name}`) !== undefined) owned();
  }
}

function ownService(service: unknown, current: Current): unknown {
  if (typeof peek(service, "getClient") !== "function") return service;
  replace(service as object, "getClient", (original, ...args) => {
    const sdk = original(...args);
    ownSender(sdk, current);
    const parts = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(sdk));
    for (const [name, { get }] of Object.entries(parts))
      if (get) ownSender(peek(sdk, name), current);
    return sdk;
  });
  return service;
}

function ownSender(sdk: unknown, current: Current): void {
  if (typeof peek(sdk, "_do") !== "function") return;
  replace(sdk as object, "_do", (original, request, options) => {
    const step = String(peek(peek(options, "context"), "operation_id") ?? "request");
    return sampled(
      {
        client: CLIENT,
        step,
        once: !isRead(peek(request, "method")) && step !== ASKS_BY_ID,
        signal: peek(request, "signal") as AbortSignal | undefined,
        send: async () => original(request, { ...(options as object), retryConfig: NEVER }),
        read: readResult,
      },
      current(),
    );
  });
}

/** `undefined` where no model is asked. */
function askedAt(url: unknown, api: object): AskedOf | undefined {
  const { name, verb } = verbIn(url);
  const operation = ASKS.get(verb);
  if (!operation) return undefined;
  const isVertex = tryCall(api, "isVertexAI") === true;
  return { operation, provider: isVertex ? "gcp.vertex_ai" : "gcp.gemini", model: name };
}

const CLIENT = "genai";
const NEVER = { strategy: "none" };

/** They return what went wrong and do not throw it. */
function readResult(ended: Ended<unknown>): FailureFacts | undefined {
  if (!ended.ok) return undefined;
  const { value } = ended;
  return peek(value, "ok") === true ? refusal(peek(value, "value")) : unanswered();
}

/** An answer worth asking for again. */
function refusal(response: unknown): FailureFacts | undefined {
  const status = peek(response, "status");
  if (typeof status !== "number" || !isRetryableRead(status)) return undefined;
  return { status, headers: peek(response, "headers"), body: peek(response, "body") };
}

function replace(
  target: object,
  name: string,
  around: (original: Method, ...args: unknown[]) => unknown,
): void {
  replaceMethod<Method>(
    target,
    name,
    (original) =>
      (...args) =>
        around(original.bind(target), ...args),
  );
}
