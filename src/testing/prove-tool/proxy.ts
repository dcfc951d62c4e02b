/**
 * A proxy on loopback that passes everything on to one target, and loses requests or replies when
 * armed. It is an HTTP proxy and not a TCP one, so it knows when the target has answered, and can reach it
 * over TLS.
 *
 * @module
 */

import { once } from "node:events";
import {
  type ClientRequest,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { request as httpsRequest } from "node:https";
import { portOf } from "../faulty-service/port.ts";
import type { ProbedRequest } from "./sandbox.ts";

export type Cut =
  | "none"
  /** The connection is reset, and the target never sees the request. */
  | "request"
  /** The connection is reset as soon as the target has the request; the target goes on. */
  | "early"
  /** The connection is reset when the target has answered. */
  | "reply";

/** One request that came by. */
export interface Passage extends ProbedRequest {
  readonly cut: boolean;
  /** The target's status; `undefined` if there is none to come. */
  readonly answered: Promise<number | undefined>;
}

export interface CuttingProxy {
  /** The base URL in place of the target's, without a slash at the end. */
  readonly url: string;
  /** From now on requests that carry an effect are cut like this. Returns the passages from now on. */
  arm(cut: Cut): readonly Passage[];
  close(): Promise<void>;
}

/** They are about one connection, and there are two. */
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
]);

const MAX_PASSAGES = 1_000;

export async function startProxy(
  target: URL,
  carriesEffect: (request: ProbedRequest) => boolean,
): Promise<CuttingProxy> {
  const underWay = new Set<ClientRequest>();
  let cut: Cut = "none";
  let passages: Passage[] = [];

  const server = createServer((request, response) => {
    const { method = "", url: path = "/" } = request;
    const probed = { method, path };
    const how = cut !== "none" && carriesEffect(probed) ? cut : "none";
    let resolve: (status: number | undefined) => void = () => {};
    const answered = new Promise<number | undefined>((settle) => {
      resolve = settle;
    });
    if (passages.length < MAX_PASSAGES) passages.push({ ...probed, cut: how !== "none", answered });
    request.on("error", () => {});
    response.on("error", () => {});
    if (how === "request") {
      resolve(undefined);
      request.socket.resetAndDestroy();
      return;
    }
    const onward = passOn(target, request);
    underWay.add(onward);
    onward.once("close", () => {
      underWay.delete(onward);
      resolve(undefined);
    });
    onward.once("response", (answer) => resolve(answer.statusCode));
    deliver(how, onward, request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    url: `http://127.0.0.1:${portOf(server)}${target.pathname}`.replace(/\/$/, ""),
    arm(next) {
      cut = next;
      passages = [];
      return passages;
    },
    async close() {
      for (const onward of underWay) onward.destroy();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function passOn(target: URL, request: IncomingMessage): ClientRequest {
  const send = target.protocol === "https:" ? httpsRequest : httpRequest;
  const { hostname, port, host } = target;
  const onward = send({
    hostname: hostname.startsWith("[") ? hostname.slice(1, -1) : hostname,
    port,
    method: request.method,
    // The path alone: whatever the client asks for, it is asked of the target.
    path: request.url?.startsWith("/") ? request.url : "/",
    headers: { ...endToEnd(request.headers), host },
    agent: false,
  });
  request.pipe(onward);
  return onward;
}

function deliver(
  cut: Cut,
  onward: ClientRequest,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const reset = () => request.socket.resetAndDestroy();
  onward.once("error", reset);
  if (cut === "early") onward.once("finish", reset);
  // A client that leaves is passed on too; one that was cut off has not left.
  if (cut === "none") response.once("close", () => onward.destroy());
  onward.once("response", (answer) => {
    answer.on("error", reset);
    if (cut === "none") {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.pipe(response);
      return;
    }
    answer.resume();
    if (cut === "reply") answer.once("end", reset);
  });
}

const endToEnd = <T>(headers: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
