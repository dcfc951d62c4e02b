/**
 * axios instances with axios-retry whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/axios"`.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import { checkClient, type HoldfireLike } from "../shared/retries/own-client.ts";

/** An axios instance, by structure: this file imports nothing from it. */
export interface AxiosInstance {
  readonly interceptors: {
    readonly request: { use(...args: never[]): unknown };
    readonly response: { use(...args: never[]): unknown };
  };
}

interface Interceptors {
  readonly request: { use(before: (config: unknown) => unknown): unknown };
  readonly response: { use(done: null, failed: (error: unknown) => never): unknown };
}

const owned = new WeakSet<object>();

/**
 * Makes one call of this instance one request, and returns the instance. An instance made of it by
 * `create()` has interceptors of its own and is to be owned itself.
 *
 * @example
 * ```ts
 * axiosRetry(client);
 * ownRetries(client, hf);
 * ```
 */
export function ownRetries<C extends AxiosInstance>(client: C, hf: HoldfireLike): C {
  const { request, response } = Object(peek(client, "interceptors")) as Interceptors;
  const isAxios = [request, response].every((part) => typeof peek(part, "use") === "function");
  checkClient(hf, isAxios, "an axios instance");
  if (owned.has(client)) return client;
  owned.add(client);
  // axios-retry keeps its count in the request's configuration, where a request may also set its own.
  // The first to see a request is the last that was added, the first to see an error is the first.
  request.use(quiet);
  response.use(null, (error) => {
    quiet(peek(error, "config"));
    throw error;
  });
  return client;
}

function quiet(config: unknown): unknown {
  if (typeof config === "object" && config !== null) {
    const state = peek(config, "axios-retry");
    Reflect.set(config, "axios-retry", { ...(state as object | undefined), retries: 0 });
  }
  return config;
}
