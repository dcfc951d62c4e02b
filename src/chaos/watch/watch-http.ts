/**
 * Finds the connection of each request of `fetch`, undici, node:http and node:https, and follows it there.
 *
 * @module
 */

import { subscribe } from "node:diagnostics_channel";
import type { ClientRequest } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { Socket } from "node:net";
import tls from "node:tls";
import { isSafe } from "../../wire/counter.ts";
import type { Orders } from "../orders.ts";
import type { Journal, Sender } from "./journal.ts";
import { follow, guarded } from "./tap-socket.ts";

interface UndiciRequest {
  readonly origin: string | URL;
  readonly method: string;
}

export function watchHttp(journal: Journal, { match }: Pick<Orders, "match">): void {
  const senders = new WeakMap<object, Sender>();
  // Reads are of interest only where a pattern may name them.
  const isWatched = (method: string) =>
    method !== "CONNECT" && (!isSafe(method) || match.length > 0);
  const listen = <Message>(channel: string, listener: (message: Message) => void) =>
    subscribe(channel, (message) => guarded(journal, () => listener(message as Message)));

  listen<{ request: UndiciRequest }>("undici:request:create", ({ request }) => {
    if (isWatched(request.method)) senders.set(request, journal.sender());
  });
  listen<{ request: UndiciRequest; headers: unknown; socket: Socket }>(
    "undici:client:sendHeaders",
    ({ request, headers, socket }) => {
      const sender = senders.get(request);
      if (!sender) return;
      const { method } = request;
      // Over HTTP/2 the headers are no text, and one connection carries many requests at once.
      if (typeof headers !== "string") return journal.note({ tag: "blind", what: "http2" });
      follow(socket, { sender, method, origin: originOf(String(request.origin)) }, journal);
    },
  );
  listen<{ request: ClientRequest }>("http.client.request.created", ({ request }) => {
    const { method, protocol, host } = request;
    if (!isWatched(method)) return;
    const sender = journal.sender();
    const origin = originOf(`${protocol}//${request.getHeader("host") ?? host}`);
    request.once("socket", (socket) =>
      guarded(journal, () => follow(socket, { sender, method, origin }, journal)),
    );
  });
}

const originOf = (text: string): string => URL.parse(text)?.origin ?? text;

/** A client that would speak either version speaks 1.1: only there can one reply be broken. */
export function preferHttp1(): void {
  const { connect } = tls;
  const connectOnce = (...given: unknown[]) => Reflect.apply(connect, tls, given.map(withoutHttp2));
  Object.assign(tls, { connect: connectOnce });
  syncBuiltinESMExports();
}

function withoutHttp2(given: unknown): unknown {
  if (typeof given !== "object" || given === null || !("ALPNProtocols" in given)) return given;
  const { ALPNProtocols: protocols } = given;
  const offersBoth =
    Array.isArray(protocols) && protocols.includes("h2") && protocols.includes("http/1.1");
  return offersBoth ? { ...given, ALPNProtocols: ["http/1.1"] } : given;
}
