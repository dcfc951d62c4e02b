/**
 * Sees what a client writes to its connection and stands before what it reads from it. Below every HTTP client of
 * Node, above TLS.
 *
 * @module
 */

import type { Socket } from "node:net";
import { constants } from "node:os";
import { type BrokenReply, breakReply } from "./break-reply.ts";
import { bodyOf, headOf } from "./http-bytes.ts";
import type { Hit, Journal, Sender } from "./journal.ts";
import type { Outgoing } from "./request-facts.ts";

/** One request on a connection. */
export interface Exchange {
  readonly sender: Sender;
  readonly method: string;
  readonly origin: string;
}

interface Tap {
  exchange: Exchange | undefined;
  written: Buffer[];
  reply: BrokenReply | undefined;
}

/** Larger bodies are compared by their beginning. */
const MOST_WRITTEN = 4 * 1_024 * 1_024;
const KEYS = ["idempotency-key", "x-idempotency-key", "if-match", "if-none-match"];

const taps = new WeakMap<Socket, Tap>();

/** The next request on this connection is this one. */
export function follow(socket: Socket, exchange: Exchange, journal: Journal): void {
  const tap = taps.get(socket) ?? install(socket, journal);
  Object.assign(tap, { exchange, written: [], reply: undefined });
}

function install(socket: Socket, journal: Journal): Tap {
  const tap: Tap = { exchange: undefined, written: [], reply: undefined };
  taps.set(socket, tap);
  const { write, push } = socket;
  const pushOn = (bytes: Buffer | null): boolean => push.call(socket, bytes);

  const hitBy = (hit: Hit): BrokenReply =>
    breakReply(hit, {
      push: (bytes) => socket.destroyed || pushOn(bytes),
      reset: () => void socket.destroy(connectionReset()),
    });

  function noteWritten(chunk: unknown, encoding: unknown): void {
    const { exchange } = tap;
    if (!exchange) return;
    tap.written.push(bytesOf(chunk, encoding));
    const all = Buffer.concat(tap.written);
    const request = outgoingIn(all, exchange);
    if (!request) return;
    tap.exchange = undefined;
    tap.written = [];
    const hit = journal.sent(request, exchange.sender);
    if (hit) tap.reply = hitBy(hit);
  }

  Object.assign(socket, {
    write(...given: Parameters<Socket["write"]>) {
      guarded(journal, () => noteWritten(given[0], given[1]));
      return write.apply(socket, given);
    },
    push(chunk: Buffer | null, ...more: []) {
      let taken: boolean | undefined;
      guarded(journal, () => {
        taken = tap.reply?.take(chunk);
      });
      return taken ?? push.call(socket, chunk, ...more);
    },
  });
  return tap;
}

/** The request, once it is written to its end. */
function outgoingIn(bytes: Buffer, { method, origin }: Exchange): Outgoing | undefined {
  const head = headOf(bytes);
  if (!head) return undefined;
  const { isWhole, bytes: body } = bodyOf(bytes, head, "request");
  if (!isWhole && bytes.length < MOST_WRITTEN) return undefined;
  const target = head.first.split(" ")[1] ?? "/";
  const url = URL.parse(target, origin);
  return {
    method,
    origin,
    path: url?.pathname ?? target.split("?", 1).join(""),
    query: url?.search ?? "",
    contentType: head.header("content-type") ?? "",
    body,
    key: KEYS.map((name) => head.header(name)).find((value) => value !== undefined),
  };
}

function bytesOf(chunk: unknown, encoding: unknown): Buffer {
  if (typeof chunk !== "string") return Buffer.from(chunk as Uint8Array);
  return Buffer.from(chunk, Buffer.isEncoding(String(encoding)) ? (encoding as "utf8") : "utf8");
}

/** What watching does wrong must not stop the agent. */
export function guarded(journal: Journal, watch: () => void): void {
  try {
    watch();
  } catch (error) {
    try {
      journal.note({ tag: "failed", why: String(error).slice(0, 200) });
    } catch {
      // The log is gone; the agent goes on.
    }
  }
}

/** As Node words it. */
function connectionReset(): Error {
  const facts = { syscall: "read", code: "ECONNRESET", errno: -constants.errno.ECONNRESET };
  return Object.assign(new Error([facts.syscall, facts.code].join(" ")), facts);
}
