/**
 * What holdfire tells those who watch. No arguments and no results: events may end in a log.
 *
 * A listener that throws is ignored; watching must not change what happens.
 *
 * @module
 */

import type { OperationFacts } from "../errors.ts";
import type { Licence, NotAppliedReason, UnknownReason, Verdict } from "../ledger/record.ts";
import type { Around } from "./around.ts";

interface OfOperation extends OperationFacts {
  readonly tenant: string;
  readonly scope: string;
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
    /** As in `Outcome`; `failed` if there is none: an error was thrown, and nothing sent. */
    readonly status: string;
    readonly reason?: string | undefined;
    readonly licence?: Licence | undefined;
    readonly attempts: number;
    readonly replayed: boolean;
    readonly recorded: boolean;
    readonly durationMs: number;
    /** What was thrown, by us or by `run`. It may say anything: a log should not. */
    readonly error?: unknown;
  };
  /** An attempt is about to be fired. */
  attempt: OfOperation & {
    readonly attempt: number;
    readonly licence: Licence;
    /** `run` is called inside `wrap`; see `operation`. */
    readonly around: Around;
  };
  /** An attempt has ended; one whose time was up, later. */
  verdict: OfOperation & {
    readonly attempt: number;
    readonly verdict: Verdict;
    readonly status?: number | undefined;
    readonly wireRequests: number;
    readonly durationMs: number;
    /** What `run` threw. It may say anything: a log should not. */
    readonly error?: unknown;
  };
  /** An attempt's time was up. It was given up, and may still land. */
  timed_out: OfOperation & {
    readonly attempt: number;
    readonly wireRequests: number;
    readonly durationMs: number;
  };
  /** The state was read. */
  reading: OfOperation & { readonly reading: string; readonly durationMs: number };
  /** An earlier outcome was given back; nothing was sent. */
  replay: OfOperation & { readonly status: string };
  /** An operation reached its outcome. */
  settled: OfOperation & {
    readonly status: string;
    readonly licence?: Licence | undefined;
    readonly attempts: number;
    readonly durationMs: number;
  };
  committed: OfOperation & { readonly via: string };
  not_applied: OfOperation & { readonly reason: NotAppliedReason };
  unknown: OfOperation & { readonly reason: UnknownReason };
  /** A lapsed operation of another owner was taken over. */
  takeover: OfOperation & { readonly epoch: number };
  /** A reply came after its attempt was given up; it was filed. */
  late: OfOperation & { readonly attempt: number; readonly verdict: Verdict };
  /** The effect exists more than once. */
  duplicate: OfOperation & { readonly source: "late" | "reading" };
  /** One request of a model call (a sample) has ended. */
  sample: {
    readonly client: string;
    readonly step: string;
    readonly attempt: number;
    readonly status?: number | undefined;
    readonly wireRequests: number;
    readonly durationMs: number;
  };
  /** What a model call cost, per attempt, aborted ones included as far as the provider told. */
  usage: {
    readonly client: string;
    readonly step: string;
    readonly attempt: number;
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    /** The reply broke off: the provider may charge more than was seen. */
    readonly partial: boolean;
  };
  /** A recorded step of a scope is asked with another prompt: a new sample. */
  prompt_drift: { readonly client: string; readonly step: string; readonly scope: string };
  /** One attempt sent the same request more than once, or tried to. */
  hidden_retry: OfOperation & {
    readonly attempt: number;
    readonly origin: string;
    readonly method: string;
    readonly path: string;
    /** How often it went out. */
    readonly count: number;
    /** How often `guardedFetch` has stopped it from going out again. */
    readonly refused?: number | undefined;
  };
  /** A keyed tool never took the key from its context: it has no keyed licence. */
  key_unused: OfOperation;
  /** A reader could not find a commit we know of: it has no absent licence. */
  reader_blind: OfOperation;
  /** `readState`, `verify`, `precondition` or `plan` threw, hung or returned nonsense. */
  reader_failed: OfOperation & {
    readonly which: "readState" | "verify" | "precondition" | "plan";
    readonly why: string;
  };
  /** Two operations of one scope differ only in a uuid or a timestamp. */
  volatile_intent: OfOperation & { readonly other: string };
  /** A result could not be stored; it is committed without its payload. */
  payload_lost: OfOperation & { readonly why: string };
  lease_lost: OfOperation;
  /** A settle could not be written yet; it is retried while the process lives. */
  unrecorded: OfOperation;
  /** A settle that had failed was written after all. */
  recorded: OfOperation;
  store_error: { readonly step: string; readonly error: unknown };
  /** The store lost data: a missing row proves nothing any more. */
  store_suspect: { readonly why: string };
  held: OfOperation & { readonly why: string };
  /** `hf.reconcile` has dealt with one more operation. In operations, so far. */
  reconcile: {
    readonly tenant: string;
    readonly looked: number;
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

export type EventName = keyof HoldfireEvents;
export type Listener<N extends EventName> = (event: HoldfireEvents[N]) => void;

export interface Events {
  /** Returns the function that stops listening. */
  on<N extends EventName>(name: N, listener: Listener<N>): () => void;
  emit<N extends EventName>(name: N, event: HoldfireEvents[N]): void;
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
    emit(name, event) {
      for (const { tenant: theirs, listener } of [...(listeners.get(name) ?? [])]) {
        if (theirs !== undefined && tenant !== undefined && theirs !== tenant) continue;
        try {
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
