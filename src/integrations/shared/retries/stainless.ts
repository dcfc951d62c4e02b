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

import { inside } from "../../../engine/engine-of.ts";
import { peek } from "../../../lang/peek.ts";
import { addClone, ownerOf, setOwner } from "./client-clones.ts";
import {
  checkMaxRetries,
  checkOwnOptions,
  type HoldfireLike,
  type OwnOptions,
} from "./own-options.ts";
import { unknownClient } from "./retry-catalogue.ts";
import { govern, type RequestOptions, type ResponseProps } from "./send-owned.ts";

/** What tells one SDK from another. */
export interface StainlessSdk {
  /** The name in events and the retry budget, e.g. `openai`. */
  readonly name: string;
  /** For people: what the client should have been. */
  readonly wanted: string;
  readonly isClient: (client: object) => boolean;
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

const governed = new WeakSet<object>();
/** Requests on their way through the SDK: they are governed already. */
const underWay = new WeakSet<object>();

export function ownStainless<C extends object>(
  client: C,
  hf: HoldfireLike,
  options: OwnOptions,
  sdk: StainlessSdk,
): C {
  inside(hf);
  const owning = checkOwnOptions(options);
  const requests = holderOf(client, "makeRequest");
  const clones = holderOf(client, "withOptions");
  if (!requests || !clones || !sdk.isClient(client)) throw unknownClient(sdk.wanted);
  // Some versions keep what they were given, some put 2 in its place.
  checkMaxRetries(peek(peek(client, "_options"), "maxRetries"), "client.maxRetries");
  checkMaxRetries(peek(client, "maxRetries"), "client.maxRetries");
  governRequests(requests, sdk);
  followClones(clones);
  Reflect.set(client, "maxRetries", 0);
  setOwner(client, hf, owning);
  return client;
}

function governRequests(holder: object, sdk: StainlessSdk): void {
  replace<MakeRequest>(
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
        return govern({
          client: sdk.name,
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
  replace<(this: object, ...args: unknown[]) => unknown>(
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

/** The object in the client's chain that has the method itself: its class, as a rule. */
function holderOf(client: unknown, method: string): object | undefined {
  let holder: unknown = client;
  while (typeof holder === "object" && holder !== null) {
    const found = Object.getOwnPropertyDescriptor(holder, method);
    if (found) return typeof found.value === "function" ? holder : undefined;
    holder = Object.getPrototypeOf(holder);
  }
  return undefined;
}

/** Puts a function around a method, once. */
function replace<F extends (...args: never[]) => unknown>(
  holder: object,
  method: string,
  around: (original: F) => F,
): void {
  const descriptor = Object.getOwnPropertyDescriptor(holder, method);
  if (!descriptor || governed.has(descriptor.value)) return;
  const value = around(descriptor.value);
  governed.add(value);
  Object.defineProperty(holder, method, { ...descriptor, value });
}
