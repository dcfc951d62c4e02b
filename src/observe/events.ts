/**
 * The events of a holdfire. They carry no arguments and no results, because events may end in a log.
 *
 * A listener that throws is ignored: a listener must not change what happens. An event without
 * listeners is not built.
 *
 * @module
 */

import type { State } from "../ledger/record.ts";
import type { Licence } from "../reasons.ts";
import type { Around } from "./around.ts";
import type {
  EndedAttempt,
  OfAttempt,
  OfModel,
  OfOperation,
  OfSample,
  StoreEvent,
  Warning,
} from "./event-parts.ts";

// A new event also needs its line in `LINES` (`log.ts`), its name in `NAMES` (`test/observe/heard.ts`), a row in the table of
// `docs/events.md`, and `npm run reference`. If it is to be counted: `otel/metrics.ts`, and the metrics in `docs/observability.md`.
/** Every event by name, with what its listener receives. */
export interface HoldfireEvents {
  /** An operation begins. Calls that join an operation under way share its event; each read has its own. */
  operation: OfOperation & {
    readonly kind: "read" | "write" | "destructive";
    /** The id of the model's tool call, where the caller gave one. */
    readonly toolCallId?: string | undefined;
    readonly by: "call" | "reconcile";
    /** Runs the operation inside `wrap`, once, whatever `wrap` does. The listener must call it synchronously. */
    readonly around: Around;
  };
  /** How it ended: each `operation` has one. */
  outcome: OfOperation & {
    readonly kind: "read" | "write" | "destructive";
    readonly by: "call" | "reconcile";
    /**
     * As in `Outcome`; `failed` if there is none: an error was thrown, and nothing was sent. In a transaction of yours
     * (`hf.enlist`) `run` may have been called before that; the transaction can then only be rolled back.
     */
    readonly status: string;
    readonly reason?: string | undefined;
    /** How the commit became known; `undefined` if it was known before. */
    readonly via?: Extract<State, { tag: "committed" }>["via"] | undefined;
    readonly licence?: Licence | undefined;
    readonly attempts: number;
    /** The outcome was known before this call, and nothing was sent for it. */
    readonly replayed: boolean;
    readonly recorded: boolean;
    readonly durationMs: number;
    /** What holdfire or `run` threw. It may contain anything, so it is not enumerable. */
    readonly error?: unknown;
  };
  /** The tool is about to be fired. */
  attempt: OfAttempt & {
    readonly licence: Licence;
    /** `run` is called inside `wrap`; see `operation`. */
    readonly around: Around;
  };
  /** An attempt has ended, or its time is up: each `attempt` has one. */
  verdict: EndedAttempt & {
    /** Its time is up, and it may still succeed; the verdict is `unknown`. If it ends after all, `late` follows. */
    readonly timedOut?: true | undefined;
  };
  /** An attempt ended after its time was up. */
  late: EndedAttempt;
  /** The state was read. */
  read: OfOperation & {
    readonly reading: string;
    /** Of `cannot_tell`: what the reader said, or what was wrong with what it found. */
    readonly why?: string | undefined;
    readonly durationMs: number;
  };
  /** Another process owns the operation: the call waits for its outcome, or until its lease has expired. */
  waiting: OfOperation;
  /** This process took over an operation whose owner was lost: its lease had expired before it settled. */
  takeover: OfOperation & { readonly epoch: number };
  /** The effect exists more than once. */
  duplicate: OfOperation & { readonly source: "late" | "read" };
  /**
   * A person must approve an operation (`asked`), or what became of the question. A decision that another process took is
   * heard by a process that waits for it (`hf.approvals.wait`) or makes the call again.
   */
  approval: OfOperation & {
    readonly status: "asked" | "approved" | "denied" | "expired";
    /** Why a person is asked; `undefined` once the question is closed. */
    readonly why?: "approval" | "drift" | undefined;
    /** Who approved or denied it. */
    readonly by?: string | undefined;
  };
  /** A model call begins: as many requests as it takes. */
  model_call: OfModel & {
    readonly id: string;
    /** The call is made inside `wrap`; see `operation`. */
    readonly around: Around;
  };
  /** How it ended, once its answer has been read: each `model_call` whose answer is read has one. */
  model_answer: OfModel & {
    readonly id: string;
    /** The model that answered. */
    readonly responseModel?: string | undefined;
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    /** How often it was sent; `0` for a recorded answer. */
    readonly attempts: number;
    /** A recorded answer was returned, and nothing was sent. */
    readonly replayed: boolean;
    /** The answer broke off, or its reader left. */
    readonly partial: boolean;
    /** The status of an answer that is an error. */
    readonly status?: number | undefined;
    readonly durationMs: number;
    /** What the client threw. It may contain anything, so it is not enumerable. */
    readonly error?: unknown;
  };
  /** One request of a sample (a call of a model client) has ended, or its recorded answer was returned. */
  sample: OfSample & {
    /** `0` for a recorded answer. */
    readonly attempt: number;
    readonly status?: number | undefined;
    readonly wireRequests: number;
    readonly durationMs: number;
    readonly replayed: boolean;
  };
  /** The tokens of a model call, per attempt, as far as the provider reported them; also of aborted ones. */
  usage: OfModel & {
    readonly attempt: number;
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    /** The reply ended early: the provider may charge for more than was counted. */
    readonly partial: boolean;
  };
  /** The ledger's store failed, lost data, or recovered. */
  store: StoreEvent;
  /** Something a developer should fix. */
  warning: Warning;
  /** `hf.reconcile` has checked one more operation. The counts of this pass so far, in operations. */
  reconcile: {
    readonly tenant: string;
    readonly checked: number;
    readonly committed: number;
    readonly notApplied: number;
    readonly stillUnknown: number;
    readonly skipped: number;
  };
  /** `hf.driftReport` found a difference between the ledger and a service. */
  drift: {
    readonly tenant: string;
    readonly finding: "gone" | "duplicated" | "changed" | "unexpected" | "foreign" | "reader_blind";
    readonly tool: string;
    /** The operation's id; a foreign effect and a blind reader have none. */
    readonly id?: string | undefined;
    readonly effectId?: string | undefined;
  };
}

export type EventName = keyof HoldfireEvents;
export type Listener<N extends EventName> = (event: HoldfireEvents[N]) => void;

export interface Events {
  /** Returns the function that stops listening. */
  on<N extends EventName>(name: N, listener: Listener<N>): () => void;
  /** Whether there is a listener, so that work only for listeners can be skipped. */
  has(name: EventName): boolean;
  /** Calls `build` once, if there is a listener. */
  emit<N extends EventName>(name: N, build: () => HoldfireEvents[N]): void;
  /** The events of one tenant; other tenants do not receive them. An event without a tenant goes to all. */
  of(tenant: string): Events;
}

export function createEvents(): Events {
  const listeners = new Map<EventName, Set<Registered>>();

  const of = (tenant: string | undefined): Events => ({
    of,
    on(name, listener) {
      const those = listeners.get(name) ?? new Set();
      const registered: Registered = { tenant, listener };
      listeners.set(name, those.add(registered));
      return () => {
        those.delete(registered);
      };
    },
    has: (name) => (listeners.get(name)?.size ?? 0) > 0,
    emit(name, build) {
      const those = listeners.get(name);
      if (!those || those.size === 0) return;
      let event: object | undefined;
      for (const { tenant: wanted, listener } of [...those]) {
        if (wanted !== undefined && tenant !== undefined && wanted !== tenant) continue;
        try {
          event ??= hideError(build());
          const returned: unknown = (listener as (event: unknown) => unknown)(event);
          if (returned instanceof Promise) returned.catch(() => {});
        } catch {
          // A listener must not change what happens.
        }
      }
    },
  });
  return of(undefined);
}

interface Registered {
  readonly tenant: string | undefined;
  readonly listener: (event: never) => void;
}

/**
 * Makes `error` of this event not enumerable, in place: it may contain credentials and personal data, and
 * listeners print and serialise whole events. It can still be read by name.
 */
function hideError<T extends object>(event: T): T {
  return "error" in event ? Object.defineProperty(event, "error", { enumerable: false }) : event;
}
