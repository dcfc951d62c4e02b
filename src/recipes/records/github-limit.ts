/**
 * GitHub's rate limits, which it tells with the status of a missing permission.
 *
 * Source: docs.github.com, "Rate limits for the REST API", section "Exceeding the rate limit": both limits are answered with
 * 403 or 429. Over the primary limit `x-ratelimit-remaining` is 0, and `x-ratelimit-reset` says when it ends; over a secondary
 * limit there may be `retry-after`. Where neither is there, wait for at least one minute. The request is turned down, so
 * nothing was made.
 *
 * @module
 */

import { headersOf, statusOf } from "../../classify/answer.ts";
import { peek } from "../../lang/peek.ts";
import type { Verdict } from "../../reasons.ts";

const MINUTE_S = 60;

/** A limit is a refusal: it passes. Any other 403 is judged by its status. */
export const classifyGithub = (error: unknown): Verdict | undefined =>
  isLimit(error) ? "refused" : undefined;

function isLimit(error: unknown): boolean {
  const status = statusOf(error);
  if (status !== 403) return status === 429;
  const header = headersOf(error);
  return (
    header("retry-after") !== undefined || header("x-ratelimit-remaining") === "0" || isNamed(error)
  );
}

/**
 * A secondary limit may come without a header (hub4j/github-api, issue 2009). The answer then names the page about limits, by
 * which google/go-github knows it, too (pull request 2229). The page has moved; `rate-limits` is in all its addresses.
 */
function isNamed(error: unknown): boolean {
  const page = peek(peek(peek(error, "response"), "data"), "documentation_url");
  return typeof page === "string" && page.includes("rate-limits");
}

/** The error of a limit, with the header that says how long to wait, counted on GitHub's own clock. */
export function withRetryAfter(error: unknown): unknown {
  if (typeof error !== "object" || error === null || !isLimit(error)) return error;
  const header = headersOf(error);
  // It may be there and blank (octokit/plugin-throttling.js, src/index.ts).
  if (header("retry-after")) return error;
  const isPrimary = header("x-ratelimit-remaining") === "0";
  const end = Number(header("x-ratelimit-reset") ?? Number.NaN);
  const now = Date.parse(header("date") ?? "") / 1_000;
  const left = isPrimary && end - now > 0 ? Math.ceil(end - now) + 1 : MINUTE_S;
  return Object.assign(error, { headers: { "retry-after": `${left}` } });
}
