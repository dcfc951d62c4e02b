/**
 * An address that speaks Streamable HTTP, around a program that speaks stdio: the conformance suite drives a server at
 * an address alone. Until 2025-11-25 a session is a process; from 2026-07-28 on there are no sessions, and one process.
 *
 * What stdio does not say, to which request a message belongs, the bridge takes from its tokens, or it is the newest
 * request. Statuses, headers, hosts and the revision are the bridge's own, whatever stands behind it.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import {
  classifyInboundRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  SUBSCRIPTION_ID_META_KEY,
  UnsupportedProtocolVersionError,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly progressToken?: unknown; readonly _meta?: Record<string, unknown> };
  readonly error?: { readonly code: number };
}

export interface Bridge {
  readonly url: string;
  stop(): Promise<void>;
}

/** Errors that are no answers of a method, and the statuses that they go with from 2026-07-28 on. */
const STATUSES: Readonly<Record<number, number>> = {
  [-32601]: 404,
  [-32020]: 400,
  [-32021]: 400,
  [-32022]: 400,
};
const REVISION = "2026-07-28";
const EVENTS = { "content-type": "text/event-stream", "cache-control": "no-cache" };

/** Requests under way at one process. */
function createSession(command: readonly [string, ...string[]], isModern: boolean) {
  const [program, ...args] = command;
  const child: ChildProcess = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map<unknown, { message: Message; response: ServerResponse }>();
  const write = (message: object) => child.stdin?.write(`${JSON.stringify(message)}\n`);

  function requestOf({ id, method, params }: Message): unknown {
    if (method === undefined) return id;
    const subscription = params?._meta?.[SUBSCRIPTION_ID_META_KEY];
    if (subscription !== undefined) return subscription;
    const newestFirst = [...waiting].reverse();
    const token = params?.progressToken;
    const fits = ({ message }: { message: Message }) =>
      token === undefined
        ? message.method !== "subscriptions/listen"
        : message.params?._meta?.progressToken === token;
    return newestFirst.find(([, one]) => fits(one))?.[0];
  }

  createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on(
    "line",
    (line) => {
      const message: Message = JSON.parse(line);
      const request = requestOf(message);
      const response = waiting.get(request)?.response;
      // There is no stream for what belongs to no request.
      if (response === undefined) return;
      const isAnswer = message.method === undefined;
      if (isAnswer) waiting.delete(request);
      if (isAnswer && !response.headersSent && isModern) {
        const status = STATUSES[message.error?.code ?? 0] ?? 200;
        response.writeHead(status, { "content-type": "application/json" }).end(line);
        return;
      }
      if (!response.headersSent) response.writeHead(200, EVENTS);
      response.write(`event: message\ndata: ${line}\n\n`);
      if (isAnswer) response.end();
    },
  );

  return {
    take(message: Message, response: ServerResponse): void {
      if (message.method === undefined || message.id === undefined) response.writeHead(202).end();
      else waiting.set(message.id, { message, response });
      response.once("close", () => {
        // A stream that is closed is a cancellation from 2026-07-28 on.
        const { id: requestId } = message;
        if (waiting.get(requestId)?.response !== response || !waiting.delete(requestId)) return;
        const params = { requestId };
        if (isModern) write({ jsonrpc: "2.0", method: "notifications/cancelled", params });
      });
      write(message);
    },
    async end(): Promise<void> {
      for (const { response } of waiting.values()) response.destroy();
      const ended = once(child, "exit");
      child.stdin?.end();
      if (child.exitCode === null) await ended;
    },
  };
}

/** @param command the program and its arguments */
export async function startBridge(
  command: readonly [string, ...string[]],
  isModern: boolean,
): Promise<Bridge> {
  const sessions = new Map<string, ReturnType<typeof createSession>>();
  const open = (id: string) => {
    const session = createSession(command, isModern);
    sessions.set(id, session);
    return session;
  };
  const shared = isModern ? open("") : undefined;

  async function post(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const message = (await json(request)) as Message;
    const id = String(request.headers["mcp-session-id"] ?? "");
    const refusal = isModern ? refusalOf(request, message) : undefined;
    if (refusal) {
      const { status, ...error } = refusal;
      const answer = { jsonrpc: "2.0", id: message.id ?? null, error };
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(JSON.stringify(answer));
      return;
    }
    if (!isModern && message.method === "initialize") {
      const fresh = randomUUID();
      response.setHeader("mcp-session-id", fresh);
      open(fresh).take(message, response);
      return;
    }
    const session = shared ?? sessions.get(id);
    if (session) session.take(message, response);
    else response.writeHead(404).end();
  }

  async function end(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = String(request.headers["mcp-session-id"] ?? "");
    const session = isModern ? undefined : sessions.get(id);
    sessions.delete(id);
    await session?.end();
    response.writeHead(session ? 200 : 405).end();
  }

  const server = createServer((request, response) => {
    const { host, origin } = request.headers;
    const isLocal =
      validateHostHeader(host, localhostAllowedHostnames()).ok &&
      validateOriginHeader(origin, localhostAllowedOrigins()).ok;
    if (!isLocal) response.writeHead(403).end();
    else if (request.method === "POST") void post(request, response);
    else if (request.method === "DELETE") void end(request, response);
    else response.writeHead(405).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async stop() {
      await Promise.all([...sessions.values()].map((session) => session.end()));
      server.closeAllConnections();
      server.close();
    },
  };
}

/** What the headers of a request say must be what its body says. */
function refusalOf({ headers }: IncomingMessage, body: Message) {
  const header = (name: string) => headers[name] as string | undefined;
  const outcome = classifyInboundRequest({
    httpMethod: "POST",
    body,
    ...optional("protocolVersionHeader", header("mcp-protocol-version")),
    ...optional("mcpMethodHeader", header("mcp-method")),
    ...optional("mcpNameHeader", header("mcp-name")),
  });
  if (outcome.kind === "modern") {
    const requested = outcome.classification.revision ?? "";
    if (REVISION === requested) return undefined;
    const { code, message, data } = new UnsupportedProtocolVersionError({
      supported: [REVISION],
      requested,
    });
    return { status: 400, code, message, data };
  }
  if (outcome.kind !== "reject") return undefined;
  const { httpStatus, code, message, data } = outcome;
  return { status: httpStatus, code, message, data };
}

const optional = <Name extends string>(name: Name, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [_ in Name]?: string };
