/**
 * What can go wrong with a write or a read, as values: plan them with `service.plan(faults.blackHole(…))` and
 * `service.planRead(readFaults.hang())`.
 *
 * A fault that commits lets the service do what its class does, and then spoils the answer: a key
 * that is known is still replayed, a precondition that fails still fails.
 *
 * @module
 */

import { validateHeaderName, validateHeaderValue } from "node:http";
import { InvalidInputError } from "../../errors.ts";

/** Header values by name; an array sends the header once per value. */
export type FaultHeaders = Readonly<Record<string, string | readonly string[]>>;

/** An answer in place of the service's own. */
export interface AnswerFault {
  readonly tag: "status";
  readonly status: number;
  readonly headers?: FaultHeaders | undefined;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export type Fault =
  /** The effect happens, then the connection is reset. */
  | { readonly tag: "commit_then_reset" }
  /** The connection is reset; the service never saw the request. */
  | { readonly tag: "reset_before" }
  /** The connection is closed in good order, without an answer. */
  | { readonly tag: "hang_up"; readonly commit: boolean }
  /** No answer, ever; the connection stays until the client leaves. */
  | { readonly tag: "black_hole"; readonly commit: boolean }
  | {
      readonly tag: "slow";
      /** When the answer comes, in milliseconds after the arrival. Until then the key is in use. */
      readonly ms: number;
      /**
       * When the effect happens: `before` the wait; `after` it, whether or not the client is still
       * there; or `on_time`, after it, and not at all if the client has left.
       */
      readonly commit: "before" | "after" | "on_time";
    }
  /** This answer in place of the service's own, as a gateway in front of it would give. */
  | (AnswerFault & { readonly commit: boolean })
  /** The effect happens, the answer's body ends in the middle. */
  | { readonly tag: "truncated_body"; readonly framing: "length" | "chunked" | "gzip" }
  /** The connection is reset, and the request reaches the service `afterMs` later. */
  | { readonly tag: "late_commit"; readonly afterMs: number }
  /** The network delivers the request twice; the answer is the first one's. */
  | { readonly tag: "duplicate_delivery" }
  /** No effect; the client is sent elsewhere. */
  | { readonly tag: "redirect"; readonly to: string; readonly status: number }
  /** The effect happens, the answer's body comes byte by byte and is cut before its last one. */
  | { readonly tag: "trickle"; readonly everyMs: number }
  /** The service began and failed, without an effect. A keyed class replays this answer. */
  | { readonly tag: "stored_failure"; readonly status: number };

/** The options of a fault: all but its tag. */
type Of<T extends Fault["tag"]> = Omit<Extract<Fault, { tag: T }>, "tag">;

/** Makes the faults of a write. A refused connection is none of them: see `closedPort()`. */
export const faults = {
  commitThenReset: (): Fault => ({ tag: "commit_then_reset" }),
  resetBefore: (): Fault => ({ tag: "reset_before" }),
  hangUp: (options: Of<"hang_up">): Fault => ({ tag: "hang_up", ...options }),
  blackHole: (options: Of<"black_hole">): Fault => ({ tag: "black_hole", ...options }),
  slow: (options: Of<"slow">): Fault => ({ tag: "slow", ...options }),
  /** `commit` is `false` unless given. */
  status: (options: Omit<Of<"status">, "commit"> & { readonly commit?: boolean }): Fault => ({
    tag: "status",
    commit: false,
    ...options,
  }),
  /** `framing` is `length` unless given: a content-length larger than the body. */
  truncatedBody: (options?: Of<"truncated_body">): Fault => ({
    tag: "truncated_body",
    framing: options?.framing ?? "length",
  }),
  /** Without `afterMs` it happens only at `service.commitLate()`. */
  lateCommit: (options?: Of<"late_commit">): Fault => ({
    tag: "late_commit",
    afterMs: options?.afterMs ?? Number.POSITIVE_INFINITY,
  }),
  duplicateDelivery: (): Fault => ({ tag: "duplicate_delivery" }),
  /** `status` is 307 unless given, with which the client sends the same request again. */
  redirect: (options: { readonly to: string; readonly status?: number }): Fault => ({
    tag: "redirect",
    status: 307,
    ...options,
  }),
  /** `everyMs` is 1 unless given. */
  trickle: (options?: Of<"trickle">): Fault => ({ tag: "trickle", everyMs: options?.everyMs ?? 1 }),
  /** `status` is 500 unless given. */
  storedFailure: (options?: Of<"stored_failure">): Fault => ({
    tag: "stored_failure",
    status: options?.status ?? 500,
  }),
} as const;

export type ReadFault =
  /** This answer in place of the service's own. */
  | AnswerFault
  /** No answer, ever; the connection stays until the client leaves. */
  | { readonly tag: "hang" }
  /** The state as it was `ms` milliseconds ago, as a replica that lags would answer. */
  | { readonly tag: "lag"; readonly ms: number }
  /** The connection is reset. */
  | { readonly tag: "reset" };

/** Makes the faults of a read. */
export const readFaults = {
  /** `status` is 503 unless given. */
  status: (options?: Partial<Omit<AnswerFault, "tag">>): ReadFault => ({
    tag: "status",
    ...options,
    status: options?.status ?? 503,
  }),
  hang: (): ReadFault => ({ tag: "hang" }),
  lag: (options: { readonly ms: number }): ReadFault => ({ tag: "lag", ...options }),
  reset: (): ReadFault => ({ tag: "reset" }),
} as const;

/**
 * Refuses a fault that could not be applied, when it is planned: a server that fails to send its
 * own fault would look like the fault asked for.
 */
export function checkFault(fault: Fault): void {
  switch (fault.tag) {
    case "commit_then_reset":
    case "reset_before":
    case "duplicate_delivery":
    case "hang_up":
    case "black_hole":
    case "truncated_body":
      break;
    case "slow":
      checkMs("fault.ms", fault.ms);
      break;
    case "late_commit":
      checkMs("fault.afterMs", fault.afterMs);
      break;
    case "trickle":
      checkMs("fault.everyMs", fault.everyMs);
      break;
    case "stored_failure":
      checkStatus(fault.status);
      break;
    case "redirect":
      checkHeader("location", fault.to);
      checkStatus(fault.status);
      break;
    case "status":
      checkAnswer(fault);
      break;
    default:
      throw new InvalidInputError("fault", "must be one that `faults` makes.");
  }
}

export function checkReadFault(fault: ReadFault): void {
  switch (fault.tag) {
    case "hang":
    case "reset":
      break;
    case "lag":
      checkMs("fault.ms", fault.ms);
      break;
    case "status":
      checkAnswer(fault);
      break;
    default:
      throw new InvalidInputError("fault", "must be one that `readFaults` makes.");
  }
}

function checkAnswer({ status, headers = {}, body }: AnswerFault): void {
  checkStatus(status);
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  try {
    JSON.stringify(body);
  } catch {
    throw new InvalidInputError("fault.body", "must be a string or JSON.");
  }
}

function checkStatus(status: number): void {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return;
  throw new InvalidInputError("fault.status", "must be a whole number from 200 to 599.");
}

function checkMs(path: string, ms: number): void {
  if (!(ms >= 0)) throw new InvalidInputError(path, "must be milliseconds, not negative.");
}

function checkHeader(name: string, value: string | readonly string[]): void {
  try {
    validateHeaderName(name);
    for (const one of [value].flat()) validateHeaderValue(name, one);
  } catch {
    throw new InvalidInputError(`fault.headers.${name}`, "must be a header that HTTP can carry.");
  }
}
