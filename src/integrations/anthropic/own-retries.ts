/**
 * Owns the retries of an Anthropic client.
 *
 * @module
 */

import { peek, tryCall } from "../../lang/peek.ts";
import type { HoldfireLike } from "../shared/retries/own-client.ts";
import type { OwnOptions } from "../shared/stainless/own-options.ts";
import { ownStainless, type StainlessSdk } from "../shared/stainless/own-stainless.ts";

/** An Anthropic client, by structure: this file imports nothing from the SDK. */
export interface AnthropicClient {
  readonly baseURL: string;
  readonly messages: object;
  withOptions(options: never): unknown;
}

const ANTHROPIC: StainlessSdk = {
  name: "anthropic",
  wanted: "an Anthropic client",
  providers: { AnthropicBedrock: "aws.bedrock", AnthropicVertex: "gcp.vertex_ai" },
  isClient: (client) => typeof peek(client, "messages") === "object",
  // It drops a token that was refused, and counts on a retry to fetch another.
  renewed: (client, options) =>
    peek(tryCall(peek(client, "_requestAuthFlags"), "get", options), "didRefreshFor401") === true,
};

/**
 * Makes holdfire the only one that retries this client, and returns the client: its methods, types and
 * errors stay as they are, and so does its middleware, which runs once per attempt.
 *
 * Every model call and every GET of the client and of its clones is a sample; what makes or deletes something (a batch, a file)
 * is sent once. A sample is sent as often as `attempts` says, whatever
 * `maxRetries` says, with one `Idempotency-Key` on all attempts. Once the head of an answer has come it
 * is the caller's: a body or a stream that breaks off later is not asked for again. To own it anew
 * replaces the options; clones made before are recognised.
 *
 * @example
 * ```ts
 * const client = ownRetries(new Anthropic(), hf, { attempts: 3 });
 * ```
 */
export function ownRetries<C extends AnthropicClient>(
  client: C,
  hf: HoldfireLike,
  options: OwnOptions = {},
): C {
  return ownStainless(client, hf, options, ANTHROPIC);
}
