/**
 * What holdfire tells those who watch. No arguments and no results: events may end in a log.
 *
 * A listener that throws is ignored; watching must not change what happens. An event that nobody
 * listens to is not built.
 *
 * @module
 */

import type { OperationFacts } from "../errors.ts";
import type { Licence, State, Verdict } from "../ledger/record.ts";
import type { Around } from "./around.ts";
import { hideError } from "./hidden-error.ts";

interface OfOperation extends OperationFacts {
  readonly tenant: string;
  readonly scope: string;
}

interface OfAttempt extends OfOperation {
  readonly attempt: number;
}

/** How an attempt ended, as far as it is known. */
interface Ended extends OfAttempt {
  readonly verdict: Verdict;
  readonly status?: number | undefined;
  readonly wireRequests: number;
  readonly durationMs: number;
  /** What `run` threw. It may say anything, so it is not enumerable. */
  readonly error?: unknown;
}

interface OfSample {
  readonly client: string;
  readonly step: string;
}

/** Every event, by name, with what its listener receives. */
export interface HoldfireEvents {
  /** An operation is taken up. Calls that join one under way are one with it; a read is one of its own. */
  operation: OfOperation & {
    readonly kind: "read" | "write" | "destructive";
    readonly by: "call" | "reconcile";
    /** What it does runs inside `wrap`, once, whatever `wrap` does. To be called by the listener at once. */
    readonly around: Around;
  };
  /** What became of it: each `operation` has one. */
  outcome: OfOperation & {
    readonly by: "call" | "reconcile";
    /** As in `Outcome`; `failed` if there is none: an error was thrown, and nothing sent. */
    readonly status: string;
    readonly reason?: string | undefined;
    /** How a commit became known, if it became known now. */
    readonly via?: Extract<State, { tag: "committed" }>["via"] | undefined;
    readonly licence?: Licence | undefined;
    readonly attempts: number;
    /** It was known before, and nothing was sent. */
    readonly replayed: boolean;
    readonly recorded: boolean;
    readonly durationMs: number;
    /** What was thrown, by us or by `run`. It may say anything, so it is not enumerable. */
    readonly error?: unknown;
  };
  /** An attempt is about to be fired. */
  attempt: OfAttempt & {
    readonly licence: Licence;
    /** `run` is called inside `wrap`; see `operation`. */
    readonly around: Around;
  };
  /** An attempt has ended, or its time was up: each `attempt` has one. */
  verdict: Ended & {
    /** It was given up and may still land; the verdict is `unknown`. What it brings then is `late`. */
    readonly timedOut?: true | undefined;
  };
  /** An attempt that was given up has ended after all. */
  late: Ended;
  /** The state was read. */
  read: OfOperation & { readonly reading: string; readonly durationMs: number };
  /** A lapsed operation of another owner was taken over. */
  takeover: OfOperation & { readonly epoch: number };
  /** The effect exists more than once. */
  duplicate: OfOperation & { readonly source: "late" | "read" };
  /** A person is asked. */
  approval: OfOperation & { readonly status: "asked"; readonly why: "approval" | "drift" };
  /** One request of a model call (a sample) has ended, or its recorded answer was given back. */
  sample: OfSample & {
    /** `0` for a recorded answer. */
    readonly attempt: number;
    readonly status?: number | undefined;
    readonly wireRequests: number;
    readonly durationMs: number;
    readonly replayed: boolean;
  };
  /** What a model call cost, per attempt, aborted ones included as far as the provider told. */
  usage: OfSample & {
    readonly attempt: number;
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    /** The reply broke off: the provider may charge more than was seen. */
    readonly partial: boolean;
  };
  /** What the ledger's store did, or failed to do. */
  store: StoreEvent;
  /** What a developer should look at. */
  warning: Warning;
  /** `hf.reconcile` has dealt with one more operation. In operations, so far. */
  reconcile: {
    readonly tenant: string;
    readonly checked: number;
    readonly committed: number;
    readonly notApplied: number;
    readonly stillUnknown: number;
    readonly skipped: number;
  };
  /** `hf.driftReport` found that the world is not as the ledger has it. */
  drift: {
    readonly tenant: string;
    readonly finding: "gone" | "duplicated" | "changed" | "foreign";
    readonly tool: string;
    /** The operation; a foreign effect has none. */
    readonly id?: string | undefined;
    readonly effectId?: string | undefined;
  };
}

type StoreEvent =
  /** It failed, or did not answer in time: then there is no `error`, which is not enumerable. */
  | { readonly status: "error"; readonly step: string; readonly error?: unknown }
  /** It lost data: a missing row proves nothing any more. */
  | { readonly status: "suspect"; readonly why: string }
  /** A settle could not be written yet; it is retried while the process lives. */
  | (OfOperation & { readonly status: "unrecorded" })
  /** A settle that had failed was written after all. */
  | (OfOperation & { readonly status: "recorded" });

type Warning =
  /** One attempt sent the same request more than once, or tried to. */
  | (OfAttempt & {
      readonly code: "hidden_retry";
      readonly origin: string;
      readonly method: string;
      readonly path: string;
      /** How often it went out. */
      readonly count: number;
      /** How often `guardedFetch` has stopped it from going out again. */
      readonly refused?: number | undefined;
    })
  /** A keyed tool never took the key from its context: it has no keyed licence. */
  | (OfOperation & { readonly code: "key_unused" })
  /** A reader could not find a commit we know of: it has no absent licence. */
  | (OfOperation & { readonly code: "reader_blind" })
  /** `readState`, `verify`, `precondition` or `plan` threw, hung or returned nonsense. */
  | (OfOperation & {
      readonly code: "reader_failed";
      readonly which: "readState" | "verify" | "precondition" | "plan";
      readonly why: string;
    })
  /** Two operations of one scope differ only in a uuid or a timestamp. */
  | (OfOperation & { readonly code: "volatile_intent"; readonly other: string })
  /** A result could not be stored; it is committed without its payload. */
  | (OfOperation & { readonly code: "payload_lost"; readonly why: string })
  | (OfOperation & { readonly code: "lease_lost" })
  /** A recorded step of a scope is asked with another prompt: a new sample. */
  | (OfSample & { readonly code: "prompt_drift"; readonly scope: string });

export type EventName = keyof HoldfireEvents;
export type Listener<N extends EventName> = (event: HoldfireEvents[N]) => void;

export interface Events {
  /** Returns the function that stops listening. */
  on<N extends EventName>(name: N, listener: Listener<N>): () => void;
  /** Whether anyone listens, so that what is only for listeners need not be done. */
  has(name: EventName): boolean;
  /** `build` is called if somebody listens, once. */
  emit<N extends EventName>(name: N, build: () => HoldfireEvents[N]): void;
  /** The events of one tenant: tenants never meet, not even in a log. What is nobody's, all hear. */
  of(tenant: string): Events;
}

export function createEvents(): Events {
  const listeners = new Map<EventName, Set<Heard>>();

  const of = (tenant: string | undefined): Events => ({
    of,
    on(name, listener) {
      const those = listeners.get(name) ?? new Set();
      const heard: Heard = { tenant, listener };
      listeners.set(name, those.add(heard));
      return () => {
        those.delete(heard);
      };
    },
    has: (name) => (listeners.get(name)?.size ?? 0) > 0,
    emit(name, build) {
      const those = listeners.get(name);
      if (!those || those.size === 0) return;
      let event: object | undefined;
      for (const { tenant: theirs, listener } of [...those]) {
        if (theirs !== undefined && tenant !== undefined && theirs !== tenant) continue;
        try {
          event ??= hideError(build());
          const returned: unknown = (listener as (event: unknown) => unknown)(event);
          if (returned instanceof Promise) returned.catch(() => {});
        } catch {
          // see the header
        }
      }
    },
  });
  return of(undefined);
}

interface Heard {
  readonly tenant: string | undefined;
  readonly listener: (event: never) => void;
}
