/**
 * What the wire knows of one `tools/call` better than the SDK's error: that it never left, or that it was turned
 * away at the door.
 *
 * Only the answer to the call itself counts. Around it a client may send other things (an audit, a login), whose
 * 403 says nothing of the call; and a `fetch` of the user's own may send the call itself to another place.
 *
 * @module
 */

import { McpNotSentError, McpTurnedAwayError } from "../../classify/mcp.ts";
import { networkVerdict } from "../../classify/network.ts";
import { peek } from "../../lang/peek.ts";
import { requestsOf, type WireRequest, type WireToken, wireFacts } from "../../wire/token.ts";

const SAFE = new Set(["GET", "HEAD", "OPTIONS"]);

/** `transport` is the one the call was given to. `undefined`: the wire proves nothing. */
export function shownByWire(
  error: unknown,
  token: WireToken,
  transport: unknown,
): Error | undefined {
  const { wireRequests, hops, unsent } = wireFacts(token);
  if (hops > 0) return undefined;
  if (wireRequests === 1 && unsent && networkVerdict(error) === "not_sent") {
    return new McpNotSentError("the server could not be reached", error);
  }
  const allSeen = requestsOf(token).length === wireRequests;
  return allSeen && isTurnedAway(requestsOf(token), transport)
    ? new McpTurnedAwayError(error)
    : undefined;
}

/** One request went to the server, it was the call, and it got a 401 or 403. */
function isTurnedAway(requests: readonly WireRequest[], transport: unknown): boolean {
  const url = addressOf(transport);
  if (!url) return false;
  const isThere = ({ origin, path }: WireRequest) => origin === url.origin && path === url.pathname;
  const there = requests.filter(isThere);
  const [call] = there;
  if (there.length !== 1 || call?.method !== "POST") return false;
  if (call.status !== 401 && call.status !== 403) return false;
  // Without a fetch of the user's own, what else is posted is the SDK's login.
  const isSdks = peek(transport, "_fetch") === undefined;
  return isSdks || requests.every((request) => request === call || SAFE.has(request.method));
}

/** Where both SDKs' Streamable HTTP transports post. Other transports do not tell. */
function addressOf(transport: unknown): URL | null {
  const url = peek(transport, "_url");
  return typeof url === "string" || url instanceof URL ? URL.parse(String(url)) : null;
}
