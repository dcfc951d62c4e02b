/**
 * Breaks a reply that has arrived: what was received is held back until it is whole, and so the service has done its
 * work; then it is lost, cut, late or another one.
 *
 * @module
 */

import { STATUS_CODES } from "node:http";
import { bodyOf, headOf, statusOf } from "./http-bytes.ts";
import type { Hit } from "./journal.ts";

/** What the client gets to read, and its connection. */
export interface Receiver {
  /** `null`: the other side has ended. */
  push(bytes: Buffer | null): boolean;
  reset(): void;
}

export interface BrokenReply {
  /** Takes what has arrived; the client has not seen it. */
  take(bytes: Buffer | null): boolean;
}

const MOST_HELD = 8 * 1_024 * 1_024;
/** A stream of events may have no end: it counts as whole when nothing more has come for so long. */
const SILENCE_MS = 5_000;

export function breakReply({ fault, slowMs, broken }: Hit, to: Receiver): BrokenReply {
  let held = Buffer.alloc(0);
  let ended = false;
  let isDone = false;
  let isDelivered = false;
  let silence: NodeJS.Timeout | undefined;

  function finish(): void {
    if (isDone) return;
    isDone = true;
    clearTimeout(silence);
    broken();
    apply();
  }

  function apply(): void {
    switch (fault) {
      case "lose-reply":
        return;
      case "reset":
        to.reset();
        return;
      case "slow":
        setTimeout(deliver, slowMs);
        return;
      case "truncate":
        to.push(held.subarray(0, cutAt(held)));
        // The client reads what is there first.
        setImmediate(() => to.reset());
        return;
      default:
        answerWith(fault);
    }
  }

  function deliver(): void {
    isDelivered = true;
    to.push(held);
    if (ended) to.push(null);
  }

  function answerWith(other: `status-${number}`): void {
    const status = other.slice("status-".length);
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`;
    to.push(Buffer.from(`${head}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`));
    to.push(null);
  }

  return {
    take(bytes) {
      if (isDelivered) return to.push(bytes);
      if (bytes === null) ended = true;
      if (isDone) return true;
      if (bytes === null) {
        // A connection that ends without a reply is a fault of its own, and not ours.
        if (held.length === 0) return to.push(null);
        finish();
        return true;
      }
      held = Buffer.concat([held, bytes]);
      for (let head = headOf(held); head; head = headOf(held)) {
        if (statusOf(head) >= 200) {
          if (bodyOf(held, head, "reply").isWhole) finish();
          break;
        }
        // "100 Continue" and the like are no reply yet.
        to.push(held.subarray(0, head.end));
        held = held.subarray(head.end);
      }
      if (held.length > MOST_HELD) finish();
      clearTimeout(silence);
      if (!isDone && held.length > 0) silence = setTimeout(finish, SILENCE_MS);
      return true;
    },
  };
}

/** In the middle of the body; of a reply without one, in the middle of its head. */
function cutAt(reply: Buffer): number {
  const head = headOf(reply);
  const begin = head && head.end < reply.length ? head.end : 0;
  return begin + Math.floor((reply.length - begin) / 2);
}
