/**
 * Puts a reply on the wire, or keeps it off.
 *
 * @module
 */

import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { Answer } from "./answer.ts";
import type { Reply } from "./reply.ts";
import type { Timers } from "./timers.ts";

type Head = Readonly<Record<string, string | number | readonly string[]>>;

export function play(reply: Reply, response: ServerResponse, timers: Timers): void {
  switch (reply.tag) {
    case "silence":
      break;
    case "send":
      sendAll(reply.answer, response);
      break;
    case "reset":
      response.socket?.resetAndDestroy();
      break;
    case "hang_up":
      cut(response);
      break;
    case "later":
      sendLater(reply, response, timers);
      break;
    case "truncate":
      truncate(reply, response);
      break;
    case "trickle":
      trickle(reply, response, timers);
      break;
  }
}

function sendAll(answer: Answer, response: ServerResponse): void {
  const bytes = bytesOf(answer);
  const bodiless = answer.status === 204 || answer.status === 304;
  writeHead(answer, response, bodiless ? {} : { "content-length": bytes.length });
  response.end(bodiless ? undefined : bytes);
}

function sendLater(
  { ms, answer, gone }: Extract<Reply, { tag: "later" }>,
  response: ServerResponse,
  timers: Timers,
): void {
  response.once("close", () => {
    if (!response.writableEnded) gone?.();
  });
  timers.after(ms, () => {
    if (!response.destroyed) sendAll(answer(), response);
  });
}

function truncate(
  { answer, framing }: Extract<Reply, { tag: "truncate" }>,
  response: ServerResponse,
): void {
  const plain = bytesOf(answer);
  if (framing === "gzip") {
    // The frame is whole: only the decoder, or the parser behind it, can tell.
    const zipped = half(gzipSync(plain));
    writeHead(answer, response, { "content-encoding": "gzip", "content-length": zipped.length });
    response.end(zipped);
    return;
  }
  writeHead(answer, response, framing === "length" ? { "content-length": plain.length } : {});
  response.write(half(plain), () => cut(response));
}

function trickle(
  { answer, everyMs }: Extract<Reply, { tag: "trickle" }>,
  response: ServerResponse,
  timers: Timers,
): void {
  const bytes = bytesOf(answer);
  writeHead(answer, response, { "content-length": bytes.length });
  const next = (sent: number): void => {
    if (response.destroyed) return;
    if (sent >= bytes.length - 1) {
      cut(response);
      return;
    }
    response.write(bytes.subarray(sent, sent + 1));
    timers.after(everyMs, () => next(sent + 1));
  };
  next(0);
}

/** FIN and not RST: what was sent must reach the client before the end does. */
function cut(response: ServerResponse): void {
  response.socket?.destroySoon();
}

/** `setHeader` ignores case, so a header of the fault replaces ours of the same name. */
function writeHead(answer: Answer, response: ServerResponse, own: Head): void {
  response.statusCode = answer.status;
  const ours = { "content-type": "application/json", ...own };
  for (const [name, value] of [...Object.entries(ours), ...Object.entries(answer.headers)]) {
    response.setHeader(name, value);
  }
}

function bytesOf({ body }: Answer): Buffer {
  return Buffer.from(typeof body === "string" ? body : (JSON.stringify(body) ?? ""));
}

function half(bytes: Buffer): Buffer {
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}
