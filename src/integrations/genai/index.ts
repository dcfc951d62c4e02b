/**
 * Clients of `@google/genai` whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/genai"`.
 *
 * @module
 */

export { type GenAiClient, ownRetries } from "./own-retries.ts";
