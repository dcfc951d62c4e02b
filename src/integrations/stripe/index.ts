/**
 * Stripe clients whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/stripe"`.
 *
 * @module
 */

export { ownRetries, type StripeClient } from "./own-retries.ts";
