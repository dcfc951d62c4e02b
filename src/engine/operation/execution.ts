/**
 * One operation under way in this process. The execution belongs to the operation, not to a caller:
 * one caller starts it, others join it, and each waits under its own signal and deadline.
 *
 * @module
 */

import type { StopSignal } from "../../lang/stop.ts";
import type { Operation } from "./operation.ts";
import type { Outcome } from "./outcome.ts";

export type Waited<T> = { readonly tag: "done"; readonly value: T } | { readonly tag: "stopped" };

/** Whether it may fire: as any call; only what the service recognises; or not at all, it only reads. */
export type FireMode = "freely" | "by_key" | "never";

export interface Execution {
  readonly operation: Operation;
  /** Aborted when its last caller has left: nothing new is fired, what was sent is still read and filed. */
  readonly stopped: StopSignal;
  /** How long until the latest deadline of its callers, in milliseconds. */
  remainingMs(): number;
  /** Waits for a person, whose time is outside the deadline. */
  outsideDeadline<T>(wait: () => Promise<T>): Promise<Waited<T>>;
  /** Waits for the user's own code, which has sent nothing yet: no caller need wait for its end. */
  untilStopped<T>(wait: () => Promise<T>): Promise<Waited<T>>;
  /** Set before the first byte of an attempt. */
  sent: boolean;
  /** `"freely"` for callers; reconcile reads, and resends by key when asked to. */
  readonly fireMode: FireMode;
  readonly done: Promise<Outcome<unknown>>;
}

/** How long a caller waits, and what may end its wait. */
export interface Caller {
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs: number;
}
