/**
 * What the client gets, as a value: the answer, part of it, or none.
 *
 * @module
 */

import type { Answer } from "./answer.ts";

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
