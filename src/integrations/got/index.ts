/**
 * got instances whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/got"`.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import { checkClient, type HoldfireLike } from "../shared/retries/own-client.ts";

/** A got instance, by structure: this file imports nothing from it. */
export interface GotInstance {
  extend(...options: never[]): unknown;
  readonly stream: unknown;
  readonly paginate: unknown;
}

interface Delay {
  readonly error: unknown;
  readonly computedValue: number;
}

/**
 * Returns an instance that makes one request of one call, whatever `retry` says, here or in a call.
 * What an `afterResponse` hook sends again on purpose, e.g. with a renewed token, is still sent.
 *
 * @example
 * ```ts
 * const client = ownRetries(got, hf);
 * ```
 */
export function ownRetries<C extends GotInstance>(client: C, hf: HoldfireLike): C {
  const isGot =
    typeof peek(client, "extend") === "function" &&
    typeof peek(client, "stream") === "function" &&
    typeof peek(client, "paginate") === "function";
  checkClient(hf, isGot, "a got instance");
  // A limit of the instance can be raised by every request; a handler has the last word.
  const extend = client.extend as (options: object) => C;
  return extend({
    handlers: [
      (options: object, next: (options: object) => unknown) => {
        Reflect.set(options, "retry", NEVER);
        return next(options);
      },
    ],
  });
}

const NEVER = {
  limit: 0,
  // The wish of a hook has a code of its own.
  calculateDelay: ({ error, computedValue }: Delay): number =>
    peek(error, "code") === "ERR_RETRYING" ? computedValue : 0,
};
