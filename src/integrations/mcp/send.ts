/**
 * One attempt: one `callTool` of the SDK, with the key in it.
 *
 * The SDK's own timeout is put off and the attempt's signal is not handed on, because either would make it
 * drop the answer when it comes; a late answer is evidence. Only a caller who stops cancels the request.
 *
 * @module
 */

import {
  afterHanding,
  McpNotSentError,
  McpToolError,
  McpTurnedAwayError,
} from "../../classify/mcp.ts";
import type { AttemptContext } from "../../engine/define/definition.ts";
import { causes, peek } from "../../lang/peek.ts";
import { isSafe } from "../../wire/counter.ts";
import {
  createToken,
  currentToken,
  requestsOf,
  runWithToken,
  type WireRequest,
  type WireToken,
  wireFacts,
} from "../../wire/token.ts";
import { keyPropertyOf, withKey } from "../shared/tools/hidden-key.ts";
import { misfit, watchHanding } from "./before-send.ts";
import { KEY_META } from "./result.ts";
import {
  callTool,
  isSecondVersion,
  type McpArguments,
  type McpClient,
  type McpTool,
  transportOf,
} from "./sdk.ts";

export interface Sending {
  readonly client: McpClient;
  /** As the caller gave them; without a caller's options if the operation is taken up later. */
  readonly given: McpArguments;
  readonly tool: McpTool | undefined;
  /** Of the tool's definition. */
  readonly digest: string | undefined;
  readonly lateMs: number;
  /** The server has listed its tools, and this is none of them. */
  readonly unlisted?: boolean | undefined;
  /** Why it must not be sent. */
  readonly failed?: { readonly error: unknown } | undefined;
  /** A read's answer is its own, whatever it says, and its time is the caller's. */
  readonly isRead?: boolean | undefined;
}

const unsent = new WeakSet<object>();

/** Whether the call was not even tried: for what this process knows of it, not for what a request came to. */
export const isUnsent = (error: unknown): boolean => unsent.has(Object(error));

function notTried(why: string, cause?: unknown): McpNotSentError {
  const error = new McpNotSentError(why, cause);
  unsent.add(error);
  return error;
}

export async function send(
  sending: Sending,
  args: unknown,
  context: AttemptContext,
): Promise<unknown> {
  const { client, given, tool, failed, unlisted, isRead } = sending;
  const { operationId = context.key, attempt = 1, refusal } = currentToken() ?? {};
  // A pipe to a process is no request that the wire would stop.
  if (refusal) throw refusal;
  if (failed) throw notTried("the server's tools could not be listed", failed.error);
  const transport = transportOf(client);
  if (transport === undefined) throw notTried("the client is not connected");
  if (unlisted && !isRead) throw notTried("the server lists no tool of this name");
  const { key } = context;
  const property = keyPropertyOf(tool?.inputSchema);
  const filled = withKey(args, property, key) as Record<string, unknown>;
  const wrong = isRead ? undefined : misfit(client, tool, filled);
  if (wrong) throw notTried(`the arguments do not fit the tool's schema: ${wrong}`);
  const params = {
    ...given.params,
    arguments: filled,
    _meta: { ...given.params._meta, [KEY_META]: key },
  };
  const stop = new AbortController();
  const cancel = () => {
    if (isRead || given.options.signal?.aborted) stop.abort();
  };
  context.signal.addEventListener("abort", cancel, { once: true });
  // A token of its own: the rounds of one call are several requests to one address, and no retries.
  const token = createToken({ operationId, attempt });
  const handing = watchHanding(transport, key);
  try {
    const options = optionsFor(sending, stop.signal);
    const result = await runWithToken(token, () => callTool(client, { ...given, params, options }));
    if (!isRead && isUnfinished(result)) throw new McpToolError(result);
    // As it will come back from the ledger.
    return isRead ? result : (JSON.parse(JSON.stringify(result)) as unknown);
  } catch (error) {
    if (handing.wasHanded() === false && transportOf(client) === transport) {
      throw notTried("the client gave it up before it was sent", error);
    }
    const told = shownByWire(error, token, transport) ?? error;
    throw handing.wasHanded() ? afterHanding(told) : told;
  } finally {
    handing.stop();
    context.signal.removeEventListener("abort", cancel);
  }
}

/** What the caller asked of the request, with our own idea of time. */
function optionsFor({ client, given, tool, lateMs, isRead }: Sending, signal: AbortSignal) {
  if (isRead) return { ...given.options, signal };
  const { timeout = 0, maxTotalTimeout: _, resetTimeoutOnProgress: __, ...rest } = given.options;
  // With the definition at hand, v2 neither looks it up nor sends again for a mismatch.
  const definition = isSecondVersion(client) && tool ? { toolDefinition: tool } : {};
  return { ...definition, ...rest, signal, timeout: Math.max(timeout, lateMs) };
}

/** It failed, or it asks for more before it goes on: either way it is not known to be done. */
const isUnfinished = (result: unknown): boolean =>
  peek(result, "isError") === true || peek(result, "resultType") === "input_required";

/**
 * What the wire knows of one `tools/call` better than the SDK's error: that it was never sent, or that it was turned
 * away. Only the answer to the call itself counts. Around it a client may send other things (an audit, a login),
 * whose 403 says nothing of the call; and a `fetch` of the user's own may send the call itself to another place.
 *
 * `transport` is the one the call was given to. `undefined`: the wire proves nothing.
 */
function shownByWire(error: unknown, token: WireToken, transport: unknown): Error | undefined {
  const { wireRequests, hops } = wireFacts(token);
  const requests = requestsOf(token);
  const url = addressOf(transport);
  if (hops > 0 || !url || requests.length !== wireRequests) return undefined;
  if (isUnreached(requests, url, error)) {
    return new McpNotSentError("the server could not be reached", error);
  }
  return isTurnedAway(requests, url, transport) ? new McpTurnedAwayError(error) : undefined;
}

/** The one request was the call, and it failed with this error before a byte of it was sent. */
function isUnreached(requests: readonly WireRequest[], url: URL, error: unknown): boolean {
  const [call] = requests;
  if (requests.length !== 1 || !call?.unsent || call.method !== "POST") return false;
  return isAt(url, call) && causes(error).includes(call.error);
}

const isAt = (url: URL, { origin, path }: WireRequest): boolean =>
  origin === url.origin && path === url.pathname;

/** One request went to the server, it was the call, and it got a 401 or 403. */
function isTurnedAway(requests: readonly WireRequest[], url: URL, transport: unknown): boolean {
  const there = requests.filter((request) => isAt(url, request));
  const [call] = there;
  if (there.length !== 1 || call?.method !== "POST") return false;
  if (call.status !== 401 && call.status !== 403) return false;
  // Without a fetch of the user's own, what else is posted is the SDK's login.
  const isSdks = peek(transport, "_fetch") === undefined;
  return isSdks || requests.every((request) => request === call || isSafe(request.method));
}

/** Where both SDKs' Streamable HTTP transports post. Other transports do not tell. */
function addressOf(transport: unknown): URL | null {
  const url = peek(transport, "_url");
  return typeof url === "string" || url instanceof URL ? URL.parse(String(url)) : null;
}
