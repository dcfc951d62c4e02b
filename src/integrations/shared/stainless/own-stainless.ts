/**
 * The seam of SDKs made by Stainless (openai, Anthropic): `makeRequest`, the one method all their
 * requests go through, each attempt with the SDK's own timeout inside.
 *
 * It is private to them, and the only place that holds. `maxRetries` is copied into clones and can be
 * raised by every request; a middleware or a `fetch` sits inside one attempt, where the time is
 * already running and an answer can no longer become the SDK's own error.
 *
 * @module
 */

import { peek } from "../../../lang/peek.ts";
import { checkClient, type HoldfireLike, holderOf, replaceMethod } from "../retries/own-client.ts";
import { addClone, ownerOf, setOwner } from "./clones.ts";
import { checkMaxRetries, checkOwnOptions, type OwnOptions } from "./own-options.ts";
import { type RequestOptions, type ResponseProps, sendRequest } from "./send-request.ts";

/** What tells one SDK from another. */
export interface StainlessSdk {
  /** The name in events and the retry budget, e.g. `openai`. */
  readonly name: string;
  /** For people: what the client should have been. */
  readonly wanted: string;
  readonly isClient: (client: object) => boolean;
  /** Whose models it asks, where its class is another than the usual one. */
  readonly providers: Readonly<Record<string, string>>;
  /** Whether the SDK has renewed its credentials for this request. */
  readonly renewed: (client: object, options: RequestOptions) => boolean;
}

type MakeRequest = (
  this: object,
  options: RequestOptions | Promise<RequestOptions>,
  retriesRemaining: number | null,
  retryOf: string | undefined,
  ...rest: readonly unknown[]
) => Promise<ResponseProps>;

/** Requests on their way through the SDK: they are owned already. */
const underWay = new WeakSet<object>();

export function ownStainless<C extends object>(
  client: C,
  hf: HoldfireLike,
  options: OwnOptions,
  sdk: StainlessSdk,
): C {
  const owning = checkOwnOptions(options);
  const requests = holderOf(client, "makeRequest");
  const clones = holderOf(client, "withOptions");
  checkClient(
    hf,
    requests !== undefined && clones !== undefined && sdk.isClient(client),
    sdk.wanted,
  );
  // Some versions keep what they were given, some put 2 in its place.
  checkMaxRetries(peek(peek(client, "_options"), "maxRetries"), "client.maxRetries");
  checkMaxRetries(peek(client, "maxRetries"), "client.maxRetries");
  if (requests) ownRequests(requests, sdk);
  if (clones) followClones(clones);
  Reflect.set(client, "maxRetries", 0);
  setOwner(client, hf, owning);
  return client;
}

function ownRequests(holder: object, sdk: StainlessSdk): void {
  replaceMethod<MakeRequest>(
    holder,
    "makeRequest",
    (original) =>
      async function (this: object, input, retriesRemaining, retryOf, ...rest) {
        const owner = ownerOf(this);
        if (!owner) return original.call(this, input, retriesRemaining, retryOf, ...rest);
        const options = await input;
        // The SDK's own second leg, e.g. with a renewed token, is part of the attempt.
        if (retryOf !== undefined || underWay.has(options)) {
          return original.call(this, options, retriesRemaining, retryOf, ...rest);
        }
        return sendRequest({
          client: sdk.name,
          provider: sdk.providers[String(peek(this.constructor, "name"))] ?? sdk.name,
          options,
          owner,
          defaultHeaders: peek(peek(this, "_options"), "defaultHeaders"),
          send: (sent) => {
            underWay.add(sent);
            return original.call(this, sent, 0, undefined, ...rest);
          },
          renewed: (sent) => sdk.renewed(this, sent),
        });
      },
  );
}

function followClones(holder: object): void {
  replaceMethod<(this: object, ...args: unknown[]) => unknown>(
    holder,
    "withOptions",
    (original) =>
      function (this: object, ...args) {
        const clone = original.apply(this, args);
        addClone(this, clone);
        return clone;
      },
  );
}
