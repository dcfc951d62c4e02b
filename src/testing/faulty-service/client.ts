/**
 * A client of the faulty service that sends once and hides nothing: what `fetch` throws passes
 * through, and an answer that is no success is an error with its `status` and `headers`.
 *
 * @module
 */

import { onOwnConnection } from "../../wire/platform-fetch.ts";
import type { EffectBody } from "./logs.ts";
import type { ToolClass } from "./tool-class.ts";

export interface ServiceClientOptions {
  /**
   * What sends the requests.
   *
   * @default the global `fetch`, as it is at the time of each request
   */
  readonly fetch?: typeof fetch | undefined;
}

export interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface CreateOptions extends ReadOptions {
  /** Sent as `Idempotency-Key`. */
  readonly key?: string | undefined;
  /** The version the write is meant for, sent as `If-Match`. */
  readonly ifMatch?: string | undefined;
}

/** `{ key }`, or fields of the body sent. All must match. Empty finds everything. */
export type EffectQuery = Readonly<Record<string, string | number | boolean>>;

export interface RecordBody {
  readonly name: string;
  readonly value: unknown;
  readonly etag: string;
}

/** The service answered, and not with a success. */
export interface ServiceAnswerError extends Error {
  readonly status: number;
  readonly headers: Headers;
  /** The answer's body: parsed if it is JSON, `undefined` if it did not come through. */
  readonly body: unknown;
}

export interface ServiceClient {
  create(body: unknown, options?: CreateOptions): Promise<EffectBody>;
  find(query: EffectQuery, options?: ReadOptions): Promise<EffectBody[]>;
  /** The version of the list of effects, for `create` with `ifMatch` on the conditional class. */
  version(options?: ReadOptions): Promise<string>;
  /** Writes a conditional record; without `ifMatch` only if the name is free. */
  put(name: string, value: unknown, options?: CreateOptions): Promise<EffectBody>;
  /** Reads a conditional record; `undefined` if there is none. */
  get(name: string, options?: ReadOptions): Promise<RecordBody | undefined>;
}

export function createClient(
  url: string,
  toolClass: ToolClass,
  options: ServiceClientOptions = {},
): ServiceClient {
  const list = `${url}/${toolClass}/effects`;
  const recordAt = (name: string) => `${url}/${toolClass}/records/${encodeURIComponent(name)}`;

  const ask = async (method: string, to: string, init: RequestInit): Promise<Response> => {
    const once = onOwnConnection(method !== "GET", { ...init, method });
    const response = await (options.fetch ?? fetch)(to, once);
    return response.ok ? response : Promise.reject(await answerError(method, to, response));
  };
  const read = (to: string, { signal }: ReadOptions = {}) =>
    ask("GET", to, { signal: signal ?? null });
  const write = (method: string, to: string, body: unknown, init: WriteInit) =>
    ask(method, to, {
      body: JSON.stringify(body),
      headers: writeHeaders(init),
      signal: init.signal ?? null,
    });

  return {
    async create(body, init = {}) {
      return json(await write("POST", list, body, init));
    },
    async find(query, init) {
      const text = new URLSearchParams();
      for (const [name, value] of Object.entries(query)) text.append(name, String(value));
      return json(await read(`${list}?${text}`, init));
    },
    async version(init) {
      const response = await read(list, init);
      await response.arrayBuffer();
      return response.headers.get("etag") ?? "";
    },
    async put(name, value, init = {}) {
      const ifNoneMatch = init.ifMatch === undefined ? "*" : undefined;
      return json(await write("PUT", recordAt(name), value, { ...init, ifNoneMatch }));
    },
    async get(name, init) {
      try {
        return await json<RecordBody>(await read(recordAt(name), init));
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    },
  };
}

type WriteInit = CreateOptions & { readonly ifNoneMatch?: string | undefined };

function writeHeaders({ key, ifMatch, ifNoneMatch }: WriteInit): Record<string, string> {
  return {
    "content-type": "application/json",
    ...(key === undefined ? {} : { "idempotency-key": key }),
    ...(ifMatch === undefined ? {} : { "if-match": ifMatch }),
    ...(ifNoneMatch === undefined ? {} : { "if-none-match": ifNoneMatch }),
  };
}

async function json<T>(response: Response): Promise<T> {
  return (await response.json()) as T;
}

async function answerError(
  method: string,
  to: string,
  response: Response,
): Promise<ServiceAnswerError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => undefined);
  const error = new Error(`${method} ${new URL(to).pathname} was answered with ${status}.`);
  return Object.assign(error, { status, headers, body: parsed(text) });
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function statusOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "status" in error
    ? error.status
    : undefined;
}
