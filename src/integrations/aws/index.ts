/**
 * Clients of the AWS SDK v3 whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/aws"`.
 *
 * @module
 */

export { type AwsClient, ownRetries } from "./own-retries.ts";
