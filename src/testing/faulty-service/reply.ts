/**
 * What the service answers, what of it the client gets, and how that is put on the wire.
 *
 * @module
 */

import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { AnswerFault, FaultHeaders } from "./faults.ts";
import type { Timers } from "./timers.ts";

export interface Answer {
  readonly status: number;
  readonly headers: FaultHeaders;
  /** A string is sent as it is, anything else as JSON. */
  readonly body: unknown;
}

export function answer(status: number, body: unknown, headers: FaultHeaders = {}): Answer {
  return { status, body, headers };
}

/** A refusal or failure, in the shape Stripe gives it. */
export function errorAnswer(status: number, type: string, headers: FaultHeaders = {}): Answer {
  return answer(status, { error: { type } }, headers);
}

/** The answer a fault asks for. */
export function faultAnswer({ status, headers = {}, body }: AnswerFault): Answer {
  if (body !== undefined) return answer(status, body, headers);
  return status < 400 ? answer(status, {}, headers) : errorAnswer(status, "fault", headers);
}

export type Reply =
  | { readonly tag: "send"; readonly answer: Answer }
  /** RST: the client sees ECONNRESET, not an empty reply. */
  | { readonly tag: "reset" }
  /** FIN: the client sees the end of the stream. */
  | { readonly tag: "hang_up" }
  /** Nothing, for as long as the client stays. */
  | { readonly tag: "silence" }
  /** The answer after `ms`, if the client is still there; if it leaves before, `gone` is called. */
  | {
      readonly tag: "later";
      readonly ms: number;
      readonly answer: () => Answer;
      readonly gone?: (() => void) | undefined;
    }
  /** The head, and half of the body. */
  | {
      readonly tag: "truncate";
      readonly answer: Answer;
      readonly framing: "length" | "chunked" | "gzip";
    }
  /** The head, and the body but for its last byte, one at a time. */
  | { readonly tag: "trickle"; readonly answer: Answer; readonly everyMs: number };

export const RESET: Reply = { tag: "reset" };
export const SILENCE: Reply = { tag: "silence" };

export function send(answer: Answer): Reply {
  return { tag: "send", answer };
}

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
