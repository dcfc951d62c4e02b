/**
 * Real MCP servers and clients of both SDKs, around one set of tools: over Streamable HTTP on loopback, and
 * over stdio with a server in a process of its own.
 *
 * @module
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import {
  Client as SecondClient,
  StreamableHTTPClientTransport as SecondHttp,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as SecondStdio } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as FirstHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Server as FirstServer } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { createMcpHandler, Server as SecondServer } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";

/** One call, as a server's handler sees it. */
export interface Arrival {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly meta: Readonly<Record<string, unknown>>;
  /** What the client answered to an `input_required`, v2 only. */
  readonly inputs: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
}

/** The tools of a server. What a handler throws becomes a JSON-RPC error. */
export interface Toolbox {
  /** May change between calls. */
  tools: readonly Record<string, unknown>[];
  call(arrival: Arrival): Promise<object>;
}

/** What both SDKs' clients have in common, for the tests' sake. */
export interface AnyClient {
  callTool(params: object, ...rest: never[]): Promise<Result>;
  listTools(): Promise<{ tools: Tool[] }>;
  close(): Promise<void>;
  getServerVersion(): { name: string } | undefined;
  request(...args: never[]): Promise<unknown>;
}

export interface Tool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: { properties?: Record<string, unknown>; required?: string[] };
}

export interface Result {
  readonly content: { type: string; text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

export type Version = "v1" | "v2";

export interface Running {
  readonly url: URL;
  /** The bodies of the `tools/call` requests that arrived. */
  readonly calls: string[];
  /** Answers the next `tools/call` in place of the server; `false` lets it through. */
  intercept: ((req: IncomingMessage, res: ServerResponse) => boolean) | undefined;
  stop(): Promise<void>;
}

const INFO = { name: "counting", version: "1.0.0" };

/** Starts a server of this version on loopback. */
export async function startServer(version: Version, toolbox: Toolbox): Promise<Running> {
  const handle = version === "v1" ? firstHandler(toolbox) : secondHandler(toolbox);
  const calls: string[] = [];
  const running = { calls } as unknown as { -readonly [K in keyof Running]: Running[K] };
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    if (body.includes('"tools/call"')) {
      calls.push(body);
      if (running.intercept?.(req, res)) return;
    }
    await handle(req, res, body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  running.url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  running.stop = () => stop(server);
  onTestFinished(running.stop);
  return running;
}

async function stop(server: Server): Promise<void> {
  server.closeAllConnections();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
}

type Handle = (req: IncomingMessage, res: ServerResponse, body: string) => Promise<unknown>;

function firstHandler(toolbox: Toolbox): Handle {
  return async (req, res, body) => {
    if (req.method !== "POST") return res.writeHead(405).end();
    const server = new FirstServer(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, async () => ({
      tools: toolbox.tools as never,
    }));
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { _meta, signal }) => {
      const { name, arguments: args = {} } = params;
      return toolbox.call({ name, args, meta: _meta ?? {}, inputs: undefined, signal }) as never;
    });
    const transport = new StreamableHTTPServerTransport({} as never);
    await server.connect(transport as unknown as Transport);
    await transport.handleRequest(req, res, JSON.parse(body));
  };
}

function secondHandler(toolbox: Toolbox): Handle {
  const handler = createMcpHandler(() => {
    const server = new SecondServer(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", async () => ({ tools: toolbox.tools as never }));
    server.setRequestHandler("tools/call", async ({ params }, ctx) => {
      const { name, arguments: args = {} } = params;
      const {
        _meta: meta = {},
        signal,
        inputResponses: inputs,
      } = ctx.mcpReq as never as {
        _meta?: Record<string, unknown>;
        signal: AbortSignal;
        inputResponses?: Record<string, unknown>;
      };
      return toolbox.call({ name, args, meta, inputs, signal }) as never;
    });
    return server;
  });
  return async (req, res, body) => {
    const headers = new Headers(req.headers as Record<string, string>);
    const { method = "GET" } = req;
    const url = `http://${req.headers.host}${req.url}`;
    const sent = method === "POST" ? { body } : {};
    const answer = await handler.fetch(new Request(url, { method, headers, ...sent }));
    res.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) res.write(chunk);
    res.end();
  };
}

/** A client of this version, connected; `over` are options of its transport. */
export async function connect(
  version: Version,
  url: URL,
  options: object = {},
  over: { readonly fetch?: typeof fetch } = {},
): Promise<AnyClient> {
  const transport = version === "v1" ? new FirstHttp(url, over) : new SecondHttp(url, over);
  return connected(version, transport, options);
}

const PROCESS = fileURLToPath(new URL("stdio-server.ts", import.meta.url));

/** A client of this version, and a server in a process of its own that notes effects in a file. */
export async function connectStdio(version: Version, file: string): Promise<AnyClient> {
  const parameters = { command: process.execPath, args: [PROCESS, file] };
  const transport = version === "v1" ? new FirstStdio(parameters) : new SecondStdio(parameters);
  return connected(version, transport, {});
}

async function connected(
  version: Version,
  transport: unknown,
  options: object,
): Promise<AnyClient> {
  const client =
    version === "v1"
      ? new FirstClient({ name: "test", version: "1" }, options)
      : new SecondClient(
          { name: "test", version: "1" },
          { versionNegotiation: { mode: "auto" }, ...options },
        );
  await client.connect(transport as never);
  onTestFinished(() => client.close());
  return client as unknown as AnyClient;
}
