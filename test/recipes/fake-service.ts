/**
 * A real HTTP server on loopback that keeps what a service would keep, and loses requests and replies of
 * writes on demand.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The body as JSON, or `undefined`. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
}

export interface FakeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is. */
  readonly body?: unknown;
}

/**
 * What becomes of the next write: the reply is lost after it was done, or the request before; the network
 * delivers it twice and the reply is lost; or a proxy answers in the service's place.
 */
export type Loss = "after" | "before" | "twice" | { readonly status: number };

export interface FakeService {
  readonly url: string;
  /** Writes that arrived, lost ones included. */
  readonly writes: FakeRequest[];
  readonly reads: FakeRequest[];
  lose(loss: Loss): void;
  /** Every read is answered so from now on. */
  failReads(status: number): void;
}

export async function startFake(
  handle: (request: FakeRequest) => FakeAnswer,
  isWrite: (request: FakeRequest) => boolean = ({ method }) =>
    method !== "GET" && method !== "HEAD",
): Promise<FakeService> {
  const writes: FakeRequest[] = [];
  const reads: FakeRequest[] = [];
  const losses: Loss[] = [];
  let readStatus: number | undefined;

  const server = createServer(async (incoming, reply) => {
    const request = await receive(incoming);
    if (!isWrite(request)) {
      reads.push(request);
      send(reply, readStatus ? { status: readStatus } : handle(request));
      return;
    }
    writes.push(request);
    const loss = losses.shift();
    if (loss === "before") return void incoming.socket.resetAndDestroy();
    if (typeof loss === "object") return send(reply, { status: loss.status });
    const answer = handle(request);
    if (loss === "twice") handle(request);
    if (loss) return void incoming.socket.resetAndDestroy();
    send(reply, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    writes,
    reads,
    lose: (loss) => losses.push(loss),
    failReads: (status) => {
      readStatus = status;
    },
  };
}

async function receive(incoming: IncomingMessage): Promise<FakeRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  const url = new URL(incoming.url ?? "/", "http://fake");
  return {
    method: incoming.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers,
    text,
    json: parse(text),
  };
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function send(reply: ServerResponse, { status = 200, headers = {}, body }: FakeAnswer): void {
  const isText = typeof body === "string" || body === undefined;
  reply.writeHead(status, { ...(!isText && { "content-type": "application/json" }), ...headers });
  reply.end(isText ? body : JSON.stringify(body));
}
