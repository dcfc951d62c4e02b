/**
 * Observes the HTTP clients of this process through `diagnostics_channel` and reports each request
 * to the token it was made under; the other ways out it only notices.
 *
 * @module
 */

import { watchHttp } from "./node-http.ts";
import { watchHttp2 } from "./node-http2.ts";
import { watchOtherWays } from "./other-ways.ts";
import { createRequestTokens, type TokenContext } from "./request-tokens.ts";
import { watchUndici } from "./undici.ts";

let watching = false;

/** Starts observing; every call after the first does nothing. */
export function observeRequests(context: TokenContext): void {
  if (watching) return;
  watching = true;
  const tokens = createRequestTokens(context);
  const isUndiciStream = watchUndici(tokens);
  watchHttp(tokens);
  watchHttp2(tokens, isUndiciStream);
  watchOtherWays(context);
}
