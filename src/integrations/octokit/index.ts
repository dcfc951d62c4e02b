/**
 * Octokit, whose only retries are holdfire's.
 *
 * Subpath export `"holdfire/octokit"`.
 *
 * @module
 */

import { engineOf } from "../../engine/engine-of.ts";
import { InvalidInputError } from "../../errors.ts";
import { peek } from "../../lang/peek.ts";
import type { HoldfireLike } from "../shared/retries/own-client.ts";

type OnLimit = (...args: never[]) => false;

/** What is added to the options. */
export interface OwnedOctokit {
  readonly retry: { readonly enabled: false };
  readonly throttle: { readonly onRateLimit: OnLimit; readonly onSecondaryRateLimit: OnLimit };
}

/**
 * Returns the options with which Octokit makes one request of one call. Your own `onRateLimit` and
 * `onSecondaryRateLimit` are still called; what they return is not obeyed.
 *
 * @example
 * ```ts
 * const octokit = new Octokit(ownRetries({ auth }, hf));
 * ```
 */
export function ownRetries<O extends object>(options: O, hf: HoldfireLike): O & OwnedOctokit {
  engineOf(hf);
  if (typeof options !== "object" || options === null || "hook" in options) {
    const rule = "must be the options of a new Octokit: its retries are fixed at construction.";
    throw new InvalidInputError("options", `${rule} Use new Octokit(ownRetries({ auth }, hf)).`);
  }
  // Two of them send again: `retry`, any method after almost any status, and `throttle`, after a rate
  // limit. The first is left out; the second keeps its queues and is told not to.
  const throttle = peek(options, "throttle");
  return {
    ...options,
    retry: { ...(peek(options, "retry") as object), enabled: false },
    throttle: {
      ...(throttle as object),
      onRateLimit: heard(peek(throttle, "onRateLimit")),
      onSecondaryRateLimit: heard(peek(throttle, "onSecondaryRateLimit")),
    },
  };
}

function heard(given: unknown): OnLimit {
  return (...args) => {
    if (typeof given === "function") given(...args);
    return false;
  };
}
