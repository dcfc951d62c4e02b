/**
 * Owns the retries of a ky instance. Instances do not change, so an owned one is returned.
 *
 * A limit of the instance can be raised by every request; the `init` hook has the last word, and where
 * ky has none yet, the one before a retry.
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
 * Returns an instance that makes one request of one call, whatever `retry` says, here or in a call.
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
