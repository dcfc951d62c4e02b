/**
 * The operation that a call belongs to, as it was named; and its execution in this process. An execution belongs
 * to the operation, not to a caller: one caller starts it, others join it, and each waits under its own signal
 * and deadline.
 *
 * @module
 */

import type { OperationFacts } from "../../errors.ts";
import type { Json } from "../../key/json.ts";
import { wireKey } from "../../key/mint.ts";
import { showScope } from "../../key/scope.ts";
import type { Instant } from "../../lang/clock.ts";
import type { StopSignal } from "../../lang/stop.ts";
import type { Ref } from "../../ledger/ledger.ts";
import type { Draft } from "../../ledger/moves/moves.ts";
import type { Stored } from "../../ledger/record.ts";
import type { CallOptions } from "../define/definition.ts";
import type { Tool } from "../define/tool.ts";
import type { Outer } from "./nesting.ts";

export interface Operation {
  readonly tool: Tool;
  readonly ref: Ref;
  readonly scope: string;
  /** The caller vouches that nothing was done under this scope before. */
  readonly fresh: boolean;
  readonly args: Json;
  readonly intent: Json;
  readonly draft: Draft;
  /** The operations inside whose attempts it is made, the nearest first. */
  readonly outer?: readonly Outer[] | undefined;
  /** The reason given for another try of something rejected. */
  readonly retry: string | undefined;
  /** Names what it has in common with the same intent in other turns of its thread, if it has one. */
  readonly inThread?: string | undefined;
  /** Its key, as it was derived last: `keyOf` keeps it here. */
  derived?: { readonly generation: number; readonly key: string } | undefined;
}

/** `key` is a caller's own name for the operation, in place of scope and intent. */
export interface NamedCallOptions extends CallOptions {
  readonly key?: string | undefined;
}

export interface NamedOperation extends OperationFacts {
  readonly tenant: string;
  readonly scope: string;
}

/** The key that the service sees in this generation. */
export function keyOf(operation: Operation, generation: number): string {
  if (operation.derived?.generation !== generation) {
    operation.derived = { generation, key: wireKey(operation.ref.id, generation) };
  }
  return operation.derived.key;
}

/** The operation's name for errors and outcomes. */
export const factsOf = (operation: Operation, generation = 0): OperationFacts => ({
  tool: operation.tool.name,
  id: operation.ref.id,
  key: keyOf(operation, generation),
});

/** The operation's name for events. */
export const about = (operation: Operation, generation = 0): NamedOperation => ({
  tool: operation.tool.name,
  id: operation.ref.id,
  key: keyOf(operation, generation),
  tenant: operation.ref.tenant,
  scope: showScope(operation.scope),
});

export type Waited<T> = { readonly tag: "done"; readonly value: T } | { readonly tag: "stopped" };

/** Whether it may fire: as any call; only what the service recognises; or not at all, it only reads. */
export type FireMode = "freely" | "by_key" | "never";

export interface Execution {
  readonly operation: Operation;
  readonly startedAt: Instant;
  /**
   * Aborted when its last caller has left, when `close` ends the wait for a person, or by the signal of reconcile: nothing new
   * is fired, what was sent is still read and filed.
   */
  readonly stopped: StopSignal;
  /** How long until the latest deadline of its callers, in milliseconds; from `at`, if that was taken just now. */
  remainingMs(at?: Instant): number;
  /** Waits for a person, whose time is outside the deadline. */
  outsideDeadline<T>(wait: () => Promise<T>): Promise<Waited<T>>;
  /** Ends the wait for a person, if there is one: the question stands, and nothing was sent. */
  stopAsking(): void;
  /** Waits for the user's own code, which has sent nothing yet: no caller need wait for its end. */
  untilStopped<T>(wait: () => Promise<T>): Promise<Waited<T>>;
  /** Whether a caller waits for its outcome. */
  hasCaller(): boolean;
  /** Set before the first byte of an attempt; also where an earlier owner may have sent one. */
  sent: boolean;
  /** The arguments of the first attempt, once they are known: callers are told what of theirs differs. */
  first?: Pick<Draft, "argsHash" | "fields"> | undefined;
  /** Its answer was read and may be out of date by now: who joins asks anew once it has ended. */
  isAnswered: boolean;
  /** Set while the settle is written, where it says that a caller was told the outcome (`told`). */
  telling: boolean;
  /**
   * Set when a read of its doubtful attempts begins, and kept until the next read: of its attempts of this epoch up to number
   * `n`, none runs and none has brought a yes. Operations of equal intent in this process go by it.
   */
  inDoubt?: { readonly epoch: number; readonly n: number } | undefined;
  /** `"freely"` for callers; reconcile reads, and resends by key when asked to. */
  readonly fireMode: FireMode;
}

/** How long a caller waits, and what may end its wait. */
export interface Caller {
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs: number;
}

/** Whether a record is of what is wanted here: a caller may have given its key to something else. */
export const isOfIntent = ({ draft }: Operation, { record }: Stored): boolean =>
  record.fingerprint === draft.identity.fingerprint;
