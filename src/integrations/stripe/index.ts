/**
 * Stripe clients whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/stripe"`.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import { checkClient, type HoldfireLike } from "../shared/retries/own-client.ts";

/** A Stripe client, by structure: this file imports nothing from the SDK. */
export interface StripeClient {
  readonly charges: object;
  readonly customers: object;
}

type MakeRequest = (...args: unknown[]) => Promise<unknown>;

const owned = new WeakSet<object>();

/**
 * Makes one call of this client one request, and returns the client. It is the tool around it that is
 * retried: pass the tool's key as `idempotencyKey`.
 *
 * @example
 * ```ts
 * const stripe = ownRetries(new Stripe(apiKey), hf);
 * ```
 */
export function ownRetries<C extends StripeClient>(client: C, hf: HoldfireLike): C {
  const sender = peek(client, "_requestSender");
  const settings = peek(client, "_api");
  const http = peek(settings, "httpClient");
  const isStripe =
    typeof peek(sender, "_getMaxNetworkRetries") === "function" &&
    typeof peek(http, "makeRequest") === "function";
  checkClient(hf, isStripe, "a Stripe client");
  if (owned.has(client)) return client;
  owned.add(client);
  // `maxNetworkRetries: 0` is not off: a connection that was reset is tried once more whatever it says,
  // and each request may raise it again. So the count is taken away where it is read, and the client
  // does not get to see that it was a reset.
  Reflect.set(settings as object, "maxNetworkRetries", 0);
  Reflect.set(sender as object, "_getMaxNetworkRetries", () => 0);
  Reflect.set(settings as object, "httpClient", withoutCode(http as object));
  return client;
}

/** The same transport, for this client alone, in whose errors a lost connection has no `code`. */
function withoutCode(http: object): object {
  const original = peek(http, "makeRequest") as MakeRequest;
  const makeRequest: MakeRequest = async (...args) => {
    try {
      return await original.apply(http, args);
    } catch (error) {
      const code = peek(error, "code");
      if (code !== "ECONNRESET" && code !== "EPIPE") throw error;
      throw new Error("The connection to Stripe was lost.", { cause: error });
    }
  };
  return Object.create(http, { makeRequest: { value: makeRequest } });
}
