/**
 * axios instances with axios-retry whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/axios"`.
 *
 * @module
 */

export { type AxiosInstance, ownRetries } from "./own-retries.ts";
