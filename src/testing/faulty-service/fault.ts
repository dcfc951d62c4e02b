/**
 * What can go wrong with a write, as values: plan them with `service.plan(faults.blackHole(…))`.
 *
 * A fault that commits lets the service do what its class does, and then spoils the answer: a key
 * that is known is still replayed, a precondition that fails still fails.
 *
 * @module
 */

/** Header values by name; an array sends the header once per value. */
export type FaultHeaders = Readonly<Record<string, string | readonly string[]>>;

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
  | {
      readonly tag: "status";
      readonly status: number;
      readonly commit: boolean;
      readonly headers?: FaultHeaders | undefined;
      /** A string is sent as it is, anything else as JSON. */
      readonly body?: unknown;
    }
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
