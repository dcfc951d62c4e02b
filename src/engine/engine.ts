/**
 * What every step of a call works with: the parts wired in `create.ts`, and no optional fields.
 *
 * @module
 */

import type { Json } from "../key/canonical.ts";
import type { Clock } from "../lang/clock.ts";
import type { Codec } from "../ledger/codec.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Declared, Verdict } from "../ledger/record.ts";
import type { Events } from "../observe/events.ts";
import type { Flight } from "./call/execution.ts";
import type { perform } from "./call/perform.ts";
import type { AttemptContext, EffectSpan, OnDrift, Plan, ToolKind } from "./define/definition.ts";
import type { Reading, StateQuery } from "./define/reading.ts";
import type { Input } from "./define/schema.ts";
import type { OnHiddenRetry } from "./define/settings.ts";
import type { Gate } from "./gate.ts";
import type { Budgets } from "./loops/budget.ts";
import type { Persist } from "./persist.ts";

/** A tool with its defaults filled in and its types erased. */
export interface Tool {
  readonly name: string;
  readonly kind: ToolKind;
  readonly service: string;
  readonly version: string | undefined;
  readonly onDrift: OnDrift;
  readonly input: Input<unknown> | undefined;
  readonly intent: (args: unknown) => unknown;
  readonly normalize: readonly string[] | ((intent: unknown) => unknown) | undefined;
  readonly resource: ((args: unknown) => string) | undefined;
  readonly run: (args: unknown, context: AttemptContext) => unknown;
  readonly keyedForMs: number | undefined;
  readonly conditional: boolean;
  readonly precondition: ((args: unknown) => unknown) | undefined;
  readonly readState: ((query: StateQuery<Json>) => unknown) | undefined;
  readonly commitsWithinMs: number | undefined;
  readonly readFirst: boolean;
  readonly refuses: readonly number[];
  readonly classify: ((error: unknown) => Verdict | undefined) | undefined;
  readonly effectOf: ((result: unknown) => unknown) | undefined;
  readonly effectIdOf: ((result: unknown) => unknown) | undefined;
  readonly sameEffect: ((result: unknown, found: unknown) => unknown) | undefined;
  readonly listEffects: ((span: EffectSpan) => unknown) | undefined;
  readonly alsoDoes: readonly string[];
  /** What others say the tool is, e.g. an MCP server. A person agrees to this, too. */
  readonly definition: Json | undefined;
  readonly plan: ((args: unknown) => Promise<Plan> | Plan) | undefined;
  readonly verify:
    | ((result: unknown, about: { intent: unknown; signal: AbortSignal }) => unknown)
    | undefined;
  readonly revive: ((stored: unknown) => unknown) | undefined;
  readonly attemptTimeoutMs: number;
  readonly readTimeoutMs: number;
  readonly deadlineMs: number;
  readonly attempts: number;
  /** What this process has learned of it. */
  readonly learned: Learned;
}

/** Shared by all tools of one name in one holdfire. */
export interface Learned {
  keyUnused: boolean;
  readerBlind: boolean;
  readerChecked: boolean;
}

/** Durations in milliseconds; see the defaults in `settings.ts`. */
export interface Timing {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
  readonly spacingMs: number;
  /** `undefined`: the attempt's timeout and 15 s. */
  readonly leaseMs: number | undefined;
  readonly cooldownMs: number;
  readonly storeTimeoutMs: number;
  readonly drainMs: number;
}

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
  /** Operations under way in this process, by tenant and id. */
  readonly flights: Map<string, Flight>;
  /** Attempts that outlived their flight: their `run` has not settled. */
  readonly unended: Map<string, Set<number>>;
  /** Tries a durable move until the store has answered. */
  readonly persist: Persist;
  /** What runs a call, loaded when it is first needed. */
  readonly loadPerform: () => Promise<typeof perform> | typeof perform;
  /** Commits join a transaction of the user's: one attempt, and no request leaves. */
  readonly enlisted: boolean;
  readonly isClosed: () => boolean;
  /** Work that goes on after a call has returned; `close` waits for it. */
  readonly background: Set<Promise<unknown>>;
}

/** What a reader or `verify` returned is only ever looked at through these. */
export type ErasedReading = Reading<unknown>;

export const declaredBy = ({ keyedForMs, conditional }: Tool, engine: Engine): Declared => ({
  keyed: keyedForMs === undefined ? undefined : true,
  conditional: conditional || undefined,
  enlisted: engine.enlisted || undefined,
});

/** Whether the service itself recognises a repetition: two yeses may then be one effect. */
export const dedupesOf = ({ keyedForMs, conditional }: Tool): boolean =>
  keyedForMs !== undefined || conditional;

/** Runs on after the call; `close` waits for it, and it never rejects unhandled. */
export function inBackground(engine: Engine, work: () => Promise<unknown>): void {
  const running = work().catch((error: unknown) =>
    engine.events.emit("store", () => ({ status: "error", step: "background", error })),
  );
  engine.background.add(running);
  void running.finally(() => engine.background.delete(running));
}
