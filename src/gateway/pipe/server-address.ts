/**
 * An MCP server that has an address: each message of the host is a POST, and its answers come as JSON or as events.
 *
 * A message is posted once. Where the stream of its answer breaks, the rest of the stream is asked for, if the server
 * keeps it; the message is not sent again.
 *
 * @module
 */

import { McpNotSentError } from "../../classify/mcp.ts";
import type { Clock } from "../../lang/clock.ts";
import { causes, peek } from "../../lang/peek.ts";
import { runWithoutToken } from "../../wire/token.ts";
import {
  createParamHeaders,
  ownRevision,
  protocolHeaders,
  type Session,
} from "./address-headers.ts";
import type { Line } from "./lines.ts";
import { fieldsOf, type Id, type Message, messageOf, parseLine, textOf } from "./message.ts";
import type { StreamPosition } from "./server-events.ts";
import { errorOfStatus, followed } from "./server-refusals.ts";
import { createSessions } from "./server-session.ts";
import { createStreams, type Pending } from "./server-streams.ts";
import { RequestCancelledError, type Upstream } from "./upstream.ts";

export interface ServerAddress {
  readonly url: URL;
  /** Sent with every request, e.g. `Authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
  /** For people. */
  readonly log: (line: string) => void;
}

/** Before these, nothing was sent. */
const UNSENT = new Set<unknown>(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN"]);
/** A server that does not answer to the end of its session is not waited for. */
const GOODBYE_MS = 3_000;
const NO_MESSAGE: Message = { kind: "other" };

export function connectServer(address: ServerAddress): Upstream {
  const { fetch, maxMessageBytes, clock, log } = address;
  let { url } = address;
  const { readable, writable } = new TransformStream<Line, Line>();
  const writer = writable.getWriter();
  const closed = new AbortController();
  const session: Session = {};
  const params = createParamHeaders(log);
  const pending = new Map<Id, Pending>();
  let finish: (exitCode: number) => void = () => {};
  const ended = new Promise<number>((resolve) => {
    finish = resolve;
  });
  const open = (headers: Record<string, string>, stop: AbortSignal) =>
    ask(NO_MESSAGE, { headers }, stop);
  const { read, listen, resume } = createStreams({
    clock,
    maxMessageBytes,
    open,
    deliver,
    pending,
  });
  const sessions = createSessions({ session, post, listen, closed: closed.signal });

  /** None of these is a request of an attempt: what they prove is told by their answers. */
  async function ask(message: Message, init: RequestInit, signal: AbortSignal): Promise<Response> {
    const headers = {
      ...address.headers,
      accept: "application/json, text/event-stream",
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      ...protocolHeaders(message, session, params),
      ...(init.headers as Record<string, string> | undefined),
    };
    const send = () =>
      runWithoutToken(() => fetch(url, { ...init, headers, signal, redirect: "manual" }));
    const response = await send();
    const moved = followed(url, response);
    if (!moved) return response;
    await response.body?.cancel();
    url = moved;
    return send();
  }

  async function post(message: Message, line: string, stop: AbortSignal): Promise<Response> {
    try {
      return await ask(message, { method: "POST", body: line }, stop);
    } catch (error) {
      const isUnsent = causes(error).some((link) => UNSENT.has(peek(link, "code")));
      throw isUnsent ? new McpNotSentError("the server could not be reached", error) : error;
    }
  }

  async function deliver(line: Line, value: unknown, message: Message): Promise<void> {
    const result = message.kind === "answer" ? fieldsOf(message.answer.result) : {};
    if (typeof result.protocolVersion === "string") session.revision = result.protocolVersion;
    const tools = Array.isArray(result.tools) ? result.tools : [];
    const admitted = session.revision === undefined ? params.admit(tools) : tools;
    if (admitted.length === tools.length) return writer.write(line);
    const text = textOf({ ...fieldsOf(value), result: { ...result, tools: admitted } });
    await writer.write({ tag: "line", bytes: Buffer.from(text) });
  }

  async function exchange(message: Message, line: string, request: Pending): Promise<void> {
    const { signal } = request.stop;
    const response = await sessions.post(message, line, signal);
    const refusal = await errorOfStatus(url, response);
    if (refusal) throw refusal;
    const position: StreamPosition = {};
    const canResume = () => position.lastEventId !== undefined && !ownRevision(message);
    await read(response, position).catch((error: unknown) => {
      if (!canResume() || signal.aborted) throw error;
    });
    if (request.id === undefined) return;
    if (!request.isAnswered && canResume()) await resume(request, position);
    if (!request.isAnswered) {
      throw new Error(`The server answered ${response.status}, and not to the request.`);
    }
  }

  async function send(given: string | Buffer): Promise<void> {
    const line = given.toString();
    const message = messageOf(parseLine(Buffer.from(line)));
    if (message.kind === "notification" && isCancellation(message)) return cancel(message.params);
    const id = message.kind === "request" ? message.id : undefined;
    const request: Pending = { id, stop: new AbortController(), isAnswered: false };
    const stop = () => request.stop.abort();
    closed.signal.addEventListener("abort", stop);
    if (id !== undefined) pending.set(id, request);
    try {
      await exchange(message, line, request);
    } catch (error) {
      const isCancelled = request.stop.signal.aborted && !closed.signal.aborted;
      throw isCancelled ? new RequestCancelledError(error) : error;
    } finally {
      closed.signal.removeEventListener("abort", stop);
      if (id !== undefined && pending.get(id) === request) pending.delete(id);
    }
  }

  /** From 2026-07-28 on, when nothing is agreed at the start, the end of its stream cancels a request. */
  const isCancellation = ({ method }: { readonly method: string }): boolean =>
    method === "notifications/cancelled" && session.revision === undefined;

  const cancel = ({ requestId }: { readonly requestId?: unknown }): void =>
    pending.get(requestId as Id)?.stop.abort();

  async function end(): Promise<void> {
    if (closed.signal.aborted) return;
    closed.abort();
    if (session.id !== undefined) {
      const inTime = AbortSignal.timeout(GOODBYE_MS);
      const goodbye = await ask(NO_MESSAGE, { method: "DELETE" }, inTime).catch(() => {});
      await goodbye?.body?.cancel();
    }
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
