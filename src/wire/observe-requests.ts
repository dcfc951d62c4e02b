/**
 * Watches the HTTP clients of this process through `diagnostics_channel` and tells each request to
 * the token it was made under. It can observe, never veto.
 *
 * @module
 */

import { watchHttp } from "./node-http.ts";
import { watchHttp2 } from "./node-http2.ts";
import { createOwners, type TokenContext } from "./request-tokens.ts";
import { watchUndici } from "./undici.ts";

let watching = false;

/** Starts watching; every call after the first does nothing. */
export function observeRequests(context: TokenContext): void {
  if (watching) return;
  watching = true;
  const owners = createOwners(context);
  const isUndiciStream = watchUndici(owners);
  watchHttp(owners);
  watchHttp2(owners, isUndiciStream);
}
