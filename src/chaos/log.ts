/**
 * What a watched process writes down, a line of JSON each, and how it is read. Bodies, headers and queries are not in
 * it: of a body there is a salted hash.
 *
 * @module
 */

import type { Fault } from "./orders.ts";

/** A place in a program: a line of a stack. */
export interface Frame {
  readonly function: string;
  /** A path, a `file:` URL made a path, or a module of Node. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** It has waited for what is above it, and is not on the stack itself. */
  readonly isAsync: boolean;
}

/** A piece of async work. Two sends with one in common were both arranged by it. */
export interface Cause {
  /** In its process. */
  readonly id: number;
  /** The line that arranged it: an `await`, a `then`, a timer. */
  readonly by?: Frame | undefined;
}

/** `other`: neither a write nor a request to a model, such as a token or telemetry. */
export type SendKind = "write" | "model" | "other";

export interface Send {
  readonly tag: "send";
  /** Counts the requests of the process, from 1. */
  readonly n: number;
  /** In milliseconds, the same clock in all processes. */
  readonly at: number;
  readonly kind: SendKind;
  readonly method: string;
  readonly origin: string;
  /** Without the query. */
  readonly path: string;
  /** The name of an MCP tool. */
  readonly tool?: string | undefined;
  /** Equal for equal requests: method, path, query and body, the order of JSON fields apart. */
  readonly same: string;
  /** Equal for equal idempotency keys and preconditions; missing where it carries none. */
  readonly key?: string | undefined;
  /** Which write of the run it is, from 1. */
  readonly write?: number | undefined;
  /** Of a request to a model: how many messages it has. */
  readonly messages?: number | undefined;
  /** Of a request to a model: it goes on from an earlier answer, which it names. */
  readonly continues?: boolean | undefined;
  /** From the innermost, and then the lines that arranged for it to run. */
  readonly stack: readonly Frame[];
  /** The async work that it is part of, from the nearest. */
  readonly causes: readonly Cause[];
  /** It goes to a gateway, which hands it on. */
  readonly isRelay?: boolean | undefined;
}

export type Line =
  | { readonly tag: "start"; readonly pid: number; readonly parent: number; readonly at: number }
  | Send
  /** The reply to this send was broken. */
  | { readonly tag: "broken"; readonly n: number; readonly fault: Fault; readonly at: number }
  /** A way out that cannot be watched or broken. */
  | { readonly tag: "blind"; readonly what: "http2" }
  /** Watching failed, and the agent ran on without. */
  | { readonly tag: "failed"; readonly why: string };

/** The log of one process, a line of JSON each. A last line that broke off is left out. */
export function linesOf<L = Line>(text: string): readonly L[] {
  return text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as L];
    } catch {
      return [];
    }
  });
}
