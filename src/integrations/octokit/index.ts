/**
 * Octokit, whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/octokit"`.
 *
 * @module
 */

export { type OwnedOctokit, ownRetries } from "./own-retries.ts";
