/**
 * One request of an owned client: replayed if its answer is on record, else sent as a sample.
 *
 * @module
 */

import { statusOf } from "../../../classify/answer.ts";
import type { Engine } from "../../../engine/engine.ts";
import { engineOf } from "../../../engine/engine-of.ts";
import { beginModelCall } from "../../../engine/reads-and-samples/model-call.ts";
import { runSample } from "../../../engine/reads-and-samples/sample.ts";
import { peek } from "../../../lang/peek.ts";
import { currentToken, wireFacts } from "../../../wire/token.ts";
import { finalError } from "../retries/final-error.ts";
import { type AskedModel, askedModel, asksModel, isSample } from "./asked-model.ts";
import type { Owner } from "./clones.ts";
import { namesKey, ownHeaders, withKey } from "./key-header.ts";
import { checkMaxRetries, type StepRequest } from "./own-options.ts";
import { recallAnswer, recordedRequest, reviveAnswer } from "./recorded-step.ts";
import { watchAnswer } from "./watch-answer.ts";

/** A request as both SDKs pass it around. */
export interface RequestOptions {
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
  readonly fetchOptions?: { readonly signal?: AbortSignal | null | undefined } | undefined;
  readonly idempotencyKey?: string | undefined;
  headers?: unknown;
  maxRetries?: number | undefined;
}

/** What both SDKs make of an answer whose head has come. */
export interface ResponseProps {
  readonly response: Response;
  readonly options: RequestOptions;
}

export interface OwnedRequest {
  readonly client: string;
  readonly provider: string;
  readonly options: RequestOptions;
  readonly owner: Owner;
  /** Headers that the client sends with every request. */
  readonly defaultHeaders: unknown;
  /** Sends once, as the SDK does, with its own timeout and its own errors. */
  readonly send: (options: RequestOptions) => Promise<ResponseProps>;
  /** Whether the SDK has just renewed what it signs in with. */
  readonly renewed: (options: RequestOptions) => boolean;
}

export async function sendRequest(request: OwnedRequest): Promise<ResponseProps> {
  const { client, owner } = request;
  const headers = ownHeaders(request.options.headers);
  const options: RequestOptions = { ...request.options, ...(headers !== undefined && { headers }) };
  const engine = engineOf(owner.hf);
  checkMaxRetries(options.maxRetries, "options.maxRetries");
  const method = (options.method ?? "get").toUpperCase();
  const path = options.path?.split(/[?#]/, 1)[0] ?? "";
  const step = `${method} ${path}`;
  const asks = method === "POST" && isJson(options.body);
  const described: StepRequest = { method, path, body: options.body };
  const isRecorded = asks && owner.options.record;
  const recorded = isRecorded ? recordedRequest(client, described, owner, engine) : undefined;
  const { attempts, deadlineMs } = owner.options;
  const sent: RequestOptions = {
    ...options,
    ...(recorded && { body: recorded.body }),
    maxRetries: 0,
  };
  let renewals = false;
  const asked = askedModel(request, step, path);
  const call = beginModelCall(asks && asksModel(path) ? asked : undefined, engine);
  const work = async (): Promise<ResponseProps> => {
    const startedAt = engine.clock.monotonic();
    const recalled = recorded && (await recallAnswer(recorded, engine));
    if (recalled) {
      const { kept } = recalled;
      engine.events.emit("sample", () => ({
        client,
        step,
        attempt: 0,
        status: kept.status,
        wireRequests: 0,
        durationMs: engine.clock.monotonic() - startedAt,
        replayed: true,
      }));
      call.replayed();
      return replayed(reviveAnswer(recalled, engine), sent);
    }
    return await runSample(
      {
        client,
        step,
        attempts: isReadOnce(options.body) ? 1 : attempts,
        once: !isSample(method, path),
        deadlineMs,
        signal: options.signal ?? options.fetchOptions?.signal,
        async send(attempt, key) {
          if (method !== "GET") sent.headers = keyed(options, request.defaultHeaders, key);
          call.sending();
          const props = await request.send(sent).catch((error: unknown) => {
            if (asks) tellLost(error, { ...asked, attempt }, engine);
            throw error;
          });
          const watched = { asked, attempt, asks, recorded };
          const isBinary = peek(props.options, "__binaryResponse") === true;
          if (isBinary) {
            call.ended();
            return props;
          }
          return { ...props, response: watchAnswer(props.response, watched, call, engine) };
        },
        renewed() {
          const before = renewals;
          renewals = request.renewed(sent);
          return renewals && !before;
        },
      },
      engine,
    );
  };
  try {
    return await call.run(work);
  } catch (error) {
    call.failed(error);
    throw finalError(error);
  } finally {
    // A page remembers its options and asks for the next one with them: that is another call.
    restore(sent, options);
  }
}

function keyed(options: RequestOptions, defaultHeaders: unknown, key: string): unknown {
  return namesKey(defaultHeaders)
    ? options.headers
    : withKey(options.headers, options.idempotencyKey ?? key);
}

function restore(sent: RequestOptions, { headers, maxRetries }: RequestOptions): void {
  if (headers === undefined) delete sent.headers;
  else sent.headers = headers;
  if (maxRetries === undefined) delete sent.maxRetries;
  else sent.maxRetries = maxRetries;
}

/** It was sent and not answered: the provider may charge for it all the same. */
function tellLost(
  error: unknown,
  about: AskedModel & { readonly attempt: number },
  { events }: Engine,
): void {
  const token = currentToken();
  const wire = token && wireFacts(token);
  if (!wire || wire.wireRequests === 0 || wire.unsent || statusOf(error) !== undefined) return;
  events.emit("usage", () => ({ ...about, partial: true }));
}

/** What the SDK makes of an answer, for one that came from the ledger. */
function replayed(response: Response, options: RequestOptions): ResponseProps {
  const props = {
    response,
    options,
    controller: new AbortController(),
    requestLogID: "log_replay",
    retryOfRequestLogID: undefined,
    startTime: Date.now(),
  };
  return props;
}

/** Whether it is sent as JSON; uploads and streams are not. */
function isJson(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  const prototype: unknown = Object.getPrototypeOf(body);
  return prototype === Object.prototype || prototype === null || Array.isArray(body);
}

/** A stream cannot be sent twice. */
function isReadOnce(body: unknown): boolean {
  if (typeof body !== "object" || body === null) return false;
  return (
    typeof peek(body, Symbol.asyncIterator) === "function" ||
    (typeof peek(body, Symbol.iterator) === "function" && typeof peek(body, "next") === "function")
  );
}
