/**
 * A service on 127.0.0.1 that fails in one way and counts what arrives.
 *
 * @module
 */

import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** Answers 503, drops the connection after the request, or never answers. */
export type Failure = "503" | "reset" | "hang";

export const FAILURES: readonly Failure[] = ["503", "reset", "hang"];

export interface Arrival {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export type Answer = (response: ServerResponse, arrival: Arrival, nth: number) => void;

export interface CountingServer {
  readonly url: string;
  readonly port: number;
  /** How long a client should wait for an answer, in milliseconds: not long for one that never comes. */
  readonly patienceMs: number;
  /** Every request that came, in order. */
  readonly arrivals: readonly Arrival[];
  /** Called with every request that comes from now on. */
  onArrival(listener: (arrival: Arrival) => void): void;
  close(): Promise<void>;
}

/** More than any client sends by itself: from then on the answer is a plain no, which ends any loop. */
const MOST = 60;

const failures: Readonly<Record<Failure, Answer>> = {
  // Sooner than the clients' own pauses, where they obey it.
  "503": (response) =>
    response
      .writeHead(503, { "content-type": "application/json", "retry-after-ms": "5" })
      .end(`{"error":{"type":"overloaded_error","message":"busy"}}`),
  reset: (response) => response.socket?.destroy(),
  hang: () => {},
};

/** No two servers at a time have the same patience, so that a timer tells whose it is. */
let started = 0;

export async function startCounting(failure: Failure | Answer): Promise<CountingServer> {
  started += 1;
  const hangMs = 400 + (started % 100);
  const answer = typeof failure === "function" ? failure : failures[failure];
  const arrivals: Arrival[] = [];
  const listeners: ((arrival: Arrival) => void)[] = [];
  const server = createServer(async (request, response) => {
    const body = await textOf(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = "", url = "", headers } = request;
    const arrival = { method, path: url, headers, body };
    const nth = arrivals.push(arrival);
    for (const listener of listeners) listener(arrival);
    if (nth > MOST) response.writeHead(400).end("{}");
    else answer(response, arrival, nth);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    patienceMs: failure === "hang" ? hangMs : 20_000,
    arrivals,
    onArrival: (listener) => void listeners.push(listener),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** An answer in JSON. */
export const json =
  (body: unknown, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
