/**
 * What every step of a call works with: the parts wired in `create.ts`, and no optional fields.
 *
 * @module
 */

import type { Canonical } from "../key/canonical.ts";
import type { Clock } from "../lang/clock.ts";
import type { Codec } from "../ledger/codec.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Events } from "../observe/events.ts";
import type { Admission, Visit } from "./admission.ts";
import type { PlannedCall } from "./define/planned-call.ts";
import type { OnHiddenRetry, Timing } from "./define/settings.ts";
import type { Tool } from "./define/tool.ts";
import type { Caller, Execution } from "./operation/execution.ts";
import type { Naming } from "./operation/operation.ts";
import type { Budgets } from "./pace/budget.ts";
import type { Persist } from "./persist.ts";

export interface Engine {
  readonly tenant: string;
  readonly ledger: Ledger;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly events: Events;
  /** In [0, 1). */
  readonly random: () => number;
  readonly newId: () => string;
  readonly timing: Timing;
  readonly gate: Gate;
  readonly budgets: Budgets;
  readonly onHiddenRetry: OnHiddenRetry;
  /** Intents met of late, to notice two that differ only in a uuid or a timestamp. One per tenant. */
  readonly seen: Map<string, string>;
  /** Operations that run in this process, by tenant and id. */
  readonly executions: Map<string, Execution>;
  /** Attempts whose `run` has not settled although their execution is over, by operation id. */
  readonly runningAttempts: Map<string, Set<number>>;
  /** Tries a durable move until the store has answered. */
  readonly persist: Persist;
  /** Commits join a transaction of the user's: one attempt, and no request leaves. */
  readonly enlisted: boolean;
  readonly isClosed: () => boolean;
  /** Work that goes on after a call has returned; `close` waits for it. */
  readonly background: Set<Promise<unknown>>;
}

/** The seam for people and lanes: what stands between an operation and its claim. Made in `src/gate`. */
export interface Gate {
  /** Asked before each claim. Must send nothing. */
  admit(execution: Execution, engine: Engine, visit: Visit): Promise<Admission>;
  /** Tells of a call without making it. */
  plan(
    tool: Tool,
    args: Canonical,
    options: Naming,
    caller: Caller,
    engine: Engine,
  ): Promise<PlannedCall>;
  /** The claim is not made after all: gives back what admission has taken. */
  leave(execution: Execution, engine: Engine, visit: Visit): void;
}

/** Runs on after the call; `close` waits for it, and it never rejects unhandled. */
export function inBackground(engine: Engine, work: () => Promise<unknown>): void {
  const running = work().catch((error: unknown) =>
    engine.events.emit("store", () => ({ status: "error", step: "background", error })),
  );
  engine.background.add(running);
  void running.finally(() => engine.background.delete(running));
}
