/**
 * Clients of the AWS SDK v3 whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/aws"`.
 *
 * @module
 */

import { peek } from "../../lang/peek.ts";
import { checkClient, type HoldfireLike } from "../shared/retries/own-client.ts";

/** A client of the AWS SDK v3, by structure: this file imports nothing from it. */
export interface AwsClient {
  readonly config: object;
  readonly middlewareStack: object;
}

/**
 * Makes one command of this client one request, and returns the client. Clients that share its
 * configuration, like `DynamoDBDocumentClient.from(client)`, are owned with it.
 *
 * @example
 * ```ts
 * const s3 = ownRetries(new S3Client({}), hf);
 * ```
 */
export function ownRetries<C extends AwsClient>(client: C, hf: HoldfireLike): C {
  const config = peek(client, "config");
  const isAws =
    typeof peek(config, "retryStrategy") === "function" &&
    typeof peek(client, "middlewareStack") === "object";
  checkClient(hf, isAws, "a client of the AWS SDK v3");
  // Its `maxAttempts` is read once, when the client is built. The retry strategy is read for each
  // command, so that is what is replaced.
  Reflect.set(config as object, "retryStrategy", async () => NEVER);
  // Told to the service in a header.
  Reflect.set(config as object, "maxAttempts", async () => 1);
  return client;
}

const FIRST = { getRetryCount: () => 0, getRetryDelay: () => 0, getRetryCost: () => undefined };

/** A strategy of the SDK's second kind; its refusal makes the SDK throw the service's own error. */
const NEVER = {
  acquireInitialRetryToken: async () => FIRST,
  refreshRetryTokenForRetry: async () => {
    throw new Error("holdfire owns the retries of this client.");
  },
  recordSuccess() {},
};
