/**
 * ky instances whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/ky"`.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import { checkClient, type HoldfireLike } from "../shared/retries/own-client.ts";

/** A ky instance, by structure: this file imports nothing from it. */
export interface KyInstance {
  extend(options: never): unknown;
  create(options: never): unknown;
  readonly stop: symbol;
}

/**
 * Returns an instance that makes one request of one call, whatever `retry` says, here or in a call. What `extend` makes of it is
 * owned; what `create()` makes of it begins anew and is to be owned itself.
 *
 * @example
 * ```ts
 * const client = ownRetries(ky, hf);
 * ```
 */
export function ownRetries<C extends KyInstance>(client: C, hf: HoldfireLike): C {
  const isKy =
    typeof peek(client, "extend") === "function" &&
    typeof peek(client, "create") === "function" &&
    typeof peek(client, "stop") === "symbol";
  checkClient(hf, isKy, "a ky instance");
  // A limit of the instance can be raised by every request; the `init` hook has the last word, and where
  // ky has none yet, the one before a retry.
  const extend = client.extend as (options: object) => C;
  return extend({
    retry: 0,
    hooks: {
      init: [
        (options: object) => {
          Reflect.set(options, "retry", 0);
        },
      ],
      beforeRetry: [
        ({ error }: { readonly error: unknown }) => {
          throw error;
        },
      ],
    },
  });
}
