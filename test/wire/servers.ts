/**
 * Real local servers for the wire and classify tests.
 *
 * @module
 */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { onTestFinished } from "vitest";
import { createToken, runWithToken, type WireToken } from "../../src/wire/token.ts";

export interface Service {
  readonly url: string;
  readonly port: number;
  /** `METHOD /path?query` of each request that arrived, in order. */
  readonly arrived: readonly string[];
}

export type Handler = (request: IncomingMessage, response: ServerResponse, nth: number) => void;

/** Listens on a free port of 127.0.0.1 until the test has ended. */
export async function listenOn(server: Server & { closeAllConnections?(): void }): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections?.();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** An HTTP server that reads each request to its end and then calls `handler`. */
export async function startService(handler: Handler): Promise<Service> {
  const arrived: string[] = [];
  const server = createServer((request, response) => {
    const nth = arrived.push(`${request.method} ${request.url}`);
    request.resume().once("end", () => handler(request, response, nth));
  });
  const port = await listenOn(server);
  return { url: `http://127.0.0.1:${port}`, port, arrived };
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let made = 0;

/** Runs `fn` under a token of its own and hands both back. */
export async function attempt<T>(
  fn: () => Promise<T>,
): Promise<{ readonly token: WireToken; readonly value?: T; readonly error?: unknown }> {
  made += 1;
  const token = createToken({ operationId: `operation-${made}`, attempt: 1 });
  try {
    return { token, value: await runWithToken(token, fn) };
  } catch (error) {
    return { token, error };
  }
}
