/**
 * got instances whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/got"`.
 *
 * @module
 */

export { type GotInstance, ownRetries } from "./own-retries.ts";
