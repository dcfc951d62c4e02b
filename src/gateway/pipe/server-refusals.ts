/**
 * Answers by which a server refuses a request before it looks at the message in it, and what to do about them.
 *
 * @module
 */

import { McpTurnedAwayError } from "../../classify/mcp.ts";
import { redirectTarget } from "../../wire/redirect.ts";

/** The server's status in place of an answer. */
class ServerStatusError extends Error {
  override readonly name = "ServerStatusError";
  readonly status: number;
  /** What it wants to be shown, as it says in `WWW-Authenticate`. */
  readonly challenge: string | undefined;

  constructor(message: string, status: number, challenge: string | undefined) {
    super(message);
    this.status = status;
    this.challenge = challenge;
  }
}

const LONGEST_CHALLENGE = 1_000;

const WORDS: Readonly<Record<number, string>> = {
  401: 'it wants an authorization. Put a token into an environment variable, and start the gateway with --header "Authorization: Bearer $NAME_OF_IT": the token is then in no configuration file',
  403: "this authorization does not allow it. Check the token that --header sends, and what it may do",
  404: "it does not know this address, or has ended the session. If a session was ended, a new one is begun; the request was not sent again",
  405: "it has no Streamable HTTP at this address",
};

/** The address to which the server has moved the endpoint; `undefined` if it has not, or may not by itself. */
export function followed(url: URL, { status, headers }: Response): URL | undefined {
  if (status !== 307 && status !== 308) return undefined;
  const target = redirectTarget(url.href, status, headers.get("location") ?? undefined);
  const moved = target === undefined ? null : URL.parse(target);
  // Another origin gets no token that was meant for this one.
  return moved?.origin === url.origin ? moved : undefined;
}

/** What a status says that stands for itself; of any other the body is read. */
export async function errorOfStatus(url: URL, response: Response): Promise<Error | undefined> {
  const { status, headers } = response;
  const target = redirectTarget(url.href, status, headers.get("location") ?? undefined);
  const isJson = headers.get("content-type")?.startsWith("application/json");
  const isTurnedAway = status === 401 || status === 403;
  const words = target
    ? `the server is at ${originAndPath(target)}. Give that to --url`
    : WORDS[status];
  if (words === undefined || (isJson && !isTurnedAway)) return undefined;
  await response.body?.cancel();
  const challenge = headers.get("www-authenticate")?.slice(0, LONGEST_CHALLENGE);
  const said = challenge === undefined ? [] : [`It says: ${challenge}.`];
  const text = [`The server answered ${status}: ${words}.`, ...said].join(" ");
  const error = new ServerStatusError(text, status, challenge);
  return isTurnedAway ? new McpTurnedAwayError(error) : error;
}

/** A query may hold a secret. */
function originAndPath(target: string): string {
  const { origin, pathname } = new URL(target);
  return origin + pathname;
}
