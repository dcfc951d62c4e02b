/**
 * Owns the retries of an OpenAI client (openai 6 and 7, `AzureOpenAI` included).
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import type { HoldfireLike } from "../shared/retries/own-client.ts";
import type { OwnOptions } from "../shared/stainless/own-options.ts";
import { ownStainless, type StainlessSdk } from "../shared/stainless/own-stainless.ts";

/** An OpenAI client, by structure: this file imports nothing from the SDK. */
export interface OpenAIClient {
  readonly baseURL: string;
  readonly chat: object;
  readonly responses: object;
  withOptions(options: never): unknown;
}

const OPENAI: StainlessSdk = {
  name: "openai",
  wanted: "an OpenAI client",
  providers: { AzureOpenAI: "azure.ai.openai" },
  isClient: (client) =>
    typeof peek(client, "chat") === "object" && typeof peek(client, "responses") === "object",
  renewed: () => false,
};

/**
 * Makes holdfire the only one that retries this client, and returns the client: its methods, types and
 * errors stay as they are.
 *
 * Every model call and every GET of the client and of its clones is a sample; what makes or deletes something (a batch, a file)
 * is sent once. A sample is sent as often as `attempts` says, whatever
 * `maxRetries` says, with one `Idempotency-Key` on all attempts. Once the head of an answer has come it
 * is the caller's: a body or a stream that breaks off later is not asked for again. To own it anew
 * replaces the options; clones made before are recognised by class, address and account.
 *
 * @example
 * ```ts
 * const client = ownRetries(new OpenAI(), hf, { attempts: 3 });
 * ```
 */
export function ownRetries<C extends OpenAIClient>(
  client: C,
  hf: HoldfireLike,
  options: OwnOptions = {},
): C {
  return ownStainless(client, hf, options, OPENAI);
}
