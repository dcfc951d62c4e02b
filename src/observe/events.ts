/**
 * What holdfire tells those who watch. No arguments and no results: events may end in a log.
 *
 * A listener that throws is ignored; watching must not change what happens.
 *
 * @module
 */

import type { OperationFacts } from "../errors.ts";
import type { Licence, NotAppliedReason, UnknownReason, Verdict } from "../ledger/record.ts";

interface OfOperation extends OperationFacts {
  readonly tenant: string;
  readonly scope: string;
}

/** Every event, by name, with what its listener receives. */
export interface HoldfireEvents {
  /** An attempt is about to be fired. */
  attempt: OfOperation & { readonly attempt: number; readonly licence: Licence };
  /** An attempt has ended, or its time was up. */
  verdict: OfOperation & {
    readonly attempt: number;
    readonly verdict: Verdict;
    readonly status?: number | undefined;
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
  "not-applied": OfOperation & { readonly reason: NotAppliedReason };
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
  "prompt-drift": { readonly client: string; readonly step: string; readonly scope: string };
  /** One attempt sent the same request more than once, or tried to. */
  "hidden-retry": OfOperation & {
    readonly attempt: number;
    readonly origin: string;
    readonly method: string;
    readonly path: string;
    /** How often it went out. */
    readonly count: number;
    /** How often `guardedFetch` has stopped it from going out again. */
    readonly refused?: number | undefined;
  };
  /** A keyed tool never took the key from its context: it has no L4. */
  "key-unused": OfOperation;
  /** A reader could not find a commit we know of: it has no L3. */
  "reader-blind": OfOperation;
  /** `readState` or `verify` threw, hung or returned nonsense. */
  "reader-failed": OfOperation & {
    readonly which: "readState" | "verify" | "precondition";
    readonly why: string;
  };
  /** Two operations of one scope differ only in a uuid or a timestamp. */
  "volatile-intent": OfOperation & { readonly other: string };
  /** A result could not be stored; it is committed without its payload. */
  "payload-lost": OfOperation & { readonly why: string };
  "lease-lost": OfOperation;
  /** A settle could not be written yet; it is retried while the process lives. */
  unrecorded: OfOperation;
  /** A settle that had failed was written after all. */
  recorded: OfOperation;
  "store-error": { readonly step: string; readonly error: unknown };
  /** The store lost data: a missing row proves nothing any more. */
  "store-suspect": { readonly why: string };
  held: OfOperation & { readonly why: string };
}

export type EventName = keyof HoldfireEvents;
export type Listener<N extends EventName> = (event: HoldfireEvents[N]) => void;

export interface Events {
  /** Returns the function that stops listening. */
  on<N extends EventName>(name: N, listener: Listener<N>): () => void;
  emit<N extends EventName>(name: N, event: HoldfireEvents[N]): void;
}

export function createEvents(): Events {
  const listeners = new Map<EventName, Set<(event: never) => void>>();
  return {
    on(name, listener) {
      const those = listeners.get(name) ?? new Set();
      listeners.set(name, those.add(listener));
      return () => {
        those.delete(listener);
      };
    },
    emit(name, event) {
      for (const listener of [...(listeners.get(name) ?? [])]) {
        try {
          const returned: unknown = (listener as (event: unknown) => unknown)(event);
          if (returned instanceof Promise) returned.catch(() => {});
        } catch {
          // see the header
        }
      }
    },
  };
}
