/**
 * An MCP server that has an address: each message of the host is a POST, and its answers come as JSON or as events.
 *
 * @module
 */

import { McpNotSentError, McpTurnedAwayError } from "../../classify/mcp.ts";
import { causes, peek } from "../../lang/peek.ts";
import { runWithoutToken } from "../../wire/token.ts";
import { type Line, linesOf } from "./lines.ts";
import { fieldsOf, type Id, type Message, messageOf, parseLine } from "./message.ts";
import { eventsIn } from "./server-events.ts";
import type { Upstream } from "./upstream.ts";

export interface ServerAddress {
  readonly url: URL;
  /** Sent with every request, e.g. `Authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly maxMessageBytes: number;
}

const VERSION = "io.modelcontextprotocol/protocolVersion";
/** Before these, nothing was sent. */
const UNSENT = new Set<unknown>(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);

export function connectServer(address: ServerAddress): Upstream {
  const { url, fetch, maxMessageBytes } = address;
  const { readable, writable } = new TransformStream<Line, Line>();
  const writer = writable.getWriter();
  const stop = new AbortController();
  let session: string | undefined;
  let version: string | undefined;
  let finish: (exitCode: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    finish = resolve;
  });

  const headersFor = (message: Message): Record<string, string> => ({
    ...address.headers,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    ...(session === undefined ? {} : { "mcp-session-id": session }),
    ...revisionIn(message, version),
  });
  // None of these is a request of an attempt: what they prove is told by their answers.
  const ask = (init: RequestInit) =>
    runWithoutToken(() => fetch(url, { ...init, signal: stop.signal }));

  /** Hands on what an answer has in it; tells whether the answer to `id` was among it. */
  async function handOn(response: Response, id: Id | undefined): Promise<boolean> {
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const body = response.body as unknown as AsyncIterable<Buffer> | null;
    if (!body) return false;
    let isAnswered = false;
    const lines = isStream
      ? eventsIn(body, maxMessageBytes)
      : linesOf(joined(body), maxMessageBytes);
    for await (const line of lines) {
      const value = line.tag === "line" ? parseLine(line.bytes) : undefined;
      const message = messageOf(value);
      // An error page is no message.
      if (message.kind === "other") continue;
      if (message.kind === "answer" && message.id === id) isAnswered = true;
      const agreed = peek(peek(value, "result"), "protocolVersion");
      if (typeof agreed === "string") version = agreed;
      await writer.write(line);
    }
    return isAnswered;
  }

  /** Where the server speaks first, until 2025-11-25. A server without it says so. */
  async function listen(): Promise<void> {
    const headers = { ...headersFor({ kind: "other" }), accept: "text/event-stream" };
    const response = await ask({ headers });
    if (response.ok) await handOn(response, undefined);
    else await response.body?.cancel();
  }

  async function send(line: string | Buffer): Promise<void> {
    const message = messageOf(parseLine(Buffer.from(line)));
    const id = message.kind === "request" ? message.id : undefined;
    let response: Response;
    try {
      response = await ask({ method: "POST", headers: headersFor(message), body: line.toString() });
    } catch (error) {
      const isUnsent = causes(error).some((link) => UNSENT.has(peek(link, "code")));
      throw isUnsent ? new McpNotSentError("the server could not be reached", error) : error;
    }
    session = response.headers.get("mcp-session-id") ?? session;
    const { status } = response;
    if (status === 401 || status === 403) {
      await response.body?.cancel();
      throw new McpTurnedAwayError(new Error(`The server answered ${status}.`));
    }
    const isAnswered = await handOn(response, id);
    if (id !== undefined && !isAnswered) {
      throw new Error(`The server answered ${status}, and not to the request.`);
    }
    const isReady =
      message.kind === "notification" && message.method === "notifications/initialized";
    if (isReady) void listen().catch(() => {});
  }

  async function end(): Promise<void> {
    if (session !== undefined) {
      await ask({ method: "DELETE", headers: headersFor({ kind: "other" }) }).catch(() => {});
    }
    stop.abort();
    await writer.close().catch(() => {});
    finish(0);
  }

  return {
    lines: readable as unknown as AsyncIterable<Line>,
    isConcurrent: true,
    send,
    end: () => void end(),
    signal: () => void end(),
    ended,
  };
}

/** A JSON answer may have newlines in it. */
async function* joined(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of body) {
    yield Buffer.from(
      Buffer.from(chunk)
        .toString("latin1")
        .replaceAll(/[\r\n]/g, " "),
      "latin1",
    );
  }
}

/** Until 2025-11-25 a header has the revision that was agreed; from 2026-07-28 on also what is asked for. */
function revisionIn(message: Message, agreed: string | undefined): Record<string, string> {
  const params = "params" in message ? message.params : {};
  const own = fieldsOf(params._meta)[VERSION];
  const revision = typeof own === "string" ? own : agreed;
  if (revision === undefined) return {};
  if (own === undefined || message.kind !== "request") return { "mcp-protocol-version": revision };
  const name = params.name ?? params.uri ?? params.taskId;
  return {
    "mcp-protocol-version": revision,
    "mcp-method": message.method,
    ...(typeof name === "string" ? { "mcp-name": headerText(name) } : {}),
  };
}

/** As the protocol writes what a header cannot hold. */
const headerText = (text: string): string =>
  /^[\x21-\x7e]+( +[\x21-\x7e]+)*$/.test(text) && !text.startsWith("=?")
    ? text
    : `=?base64?${Buffer.from(text).toString("base64")}?=`;
