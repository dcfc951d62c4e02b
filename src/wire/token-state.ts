/**
 * What a wire token is made of, and which tokens of writes are running.
 *
 * @module
 */

import { type Counter, createCounter } from "./counter.ts";

/** A request as a tool's `ignores` is asked about it. */
export interface OutgoingRequest {
  readonly method: string;
  /** The whole address. */
  readonly url: string;
  /** The body, where it was sent as text through the attempt's own `fetch`. */
  readonly body?: string | undefined;
}

/** What holds for the requests of a write. */
export interface WriteTerms {
  /** Whether a request is no part of the effect. */
  ignores(request: OutgoingRequest): boolean;
  /** Whether a request may still leave. `isFirst`: no write of it was answered or failed yet. */
  mayStillSend(isFirst: boolean): boolean;
  /** A request that may be this attempt's was sent after its end. */
  onLate(): void;
  /** It has a way out that cannot be stopped: a socket, a process or a thread. */
  onOtherWay(): void;
}

export interface WireToken {
  readonly operationId: string;
  readonly attempt: number;
  /** Set if no request may be sent under it: the error that each such request gets. */
  readonly refusal: Error | undefined;
  /** What the engine keeps of the attempt around; of no interest to the wire. */
  readonly frame: object | undefined;
  /** Only writes have terms: what else is fired may go on after its end. Most writes never ask for them. */
  makeTerms: (() => WriteTerms) | undefined;
  terms: WriteTerms | undefined;
  /** The same for all writes that may share a client or a queue. */
  readonly group: object | undefined;
  /** Made for the first request: many attempts make none that can be seen. */
  counter: Counter | undefined;
  hasEnded: boolean;
  /** Sockets, processes and threads opened under it, other than those of HTTP clients. */
  others: Set<object> | undefined;
  /** A request of it may have been counted on another attempt, or another's on it. */
  contextLost: boolean;
}

export function countOn(token: WireToken): Counter {
  token.counter ??= createCounter();
  return token.counter;
}

/** Stands for none: a set that becomes empty with each call would have to be made anew by the next. */
const NONE: WireToken = {
  operationId: "",
  attempt: 0,
  refusal: undefined,
  frame: undefined,
  makeTerms: undefined,
  terms: undefined,
  group: {},
  counter: undefined,
  hasEnded: true,
  others: undefined,
  contextLost: false,
};

const running = new Set([NONE]);

export function beginWrite(token: WireToken): void {
  if (token.makeTerms) running.add(token);
}

export function termsOf(token: WireToken): WriteTerms | undefined {
  token.terms ??= token.makeTerms?.();
  return token.terms;
}

/**
 * What is seen under other tokens is not suspected to be its own any more. It ends nothing: until the time that is noted
 * for its attempt, requests may still be sent under it.
 */
export const stopSuspecting = (token: WireToken): boolean => running.delete(token);

/** From here on nothing of it may leave. What its terms hold on to is let go. */
export function endToken(token: WireToken, termsAfterEnd?: () => WriteTerms): void {
  token.hasEnded = true;
  token.makeTerms = termsAfterEnd;
  token.terms = undefined;
  running.delete(token);
}

/**
 * A running write of which no request was seen: what is seen under this token, which has ended, may be its own. Not one
 * of the same operation: between two attempts of one operation, a request counts as that of the attempt it is seen
 * under, and is stopped if that one has written to the same origin.
 */
export function findUnseen({ operationId, group }: WireToken): WireToken | undefined {
  for (const other of running) {
    const isNear = other.operationId !== operationId && other.group === group;
    if (isNear && !other.counter) return other;
  }
  return undefined;
}
