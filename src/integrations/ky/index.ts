/**
 * ky instances whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/ky"`.
 *
 * @module
 */

export { type KyInstance, ownRetries } from "./own-retries.ts";
