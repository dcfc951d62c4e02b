/**
 * What the service remembers for ever, and its state as read from that: arrivals, reads and effects. A test
 * compares what a tool reports with these.
 *
 * One sequence runs through all three, so their entries can be put in order: a read with a lower
 * `seq` than an effect came before it.
 *
 * @module
 */

import type { Fault, ReadFault } from "./faults.ts";
import type { ToolClass } from "./tool-class.ts";

interface Logged {
  readonly seq: number;
  /** Milliseconds since the epoch, on the service's clock. */
  readonly at: number;
}

/** A write that arrived, refused ones included. */
export interface Arrival extends Logged {
  readonly method: string;
  readonly path: string;
  /** The `Idempotency-Key` header. */
  readonly key: string | undefined;
  /** The parsed JSON body; `undefined` if it was none. */
  readonly intent: unknown;
  /** The same for equal intents, whatever the order of their fields: count by it. */
  readonly identity: string | undefined;
  /** The body as it arrived; empty if it was too large. */
  readonly body: string;
  /** What was done to it. */
  readonly fault: Fault | undefined;
}

export interface ReadArrival extends Logged {
  readonly method: string;
  readonly path: string;
  readonly fault: ReadFault | undefined;
}

/** Something that really happened. */
export interface LoggedEffect extends Logged {
  readonly class: ToolClass;
  readonly effectId: string;
  readonly effect: "created" | "updated";
  readonly key: string | undefined;
  /** The JSON body sent. */
  readonly intent: unknown;
  readonly identity: string;
  /** The name of the conditional record that was written. */
  readonly record: string | undefined;
  /** The `seq` of the arrival that caused it. */
  readonly arrival: number;
}

/** An effect as the service reports it, in its answers and its reads. */
export interface EffectBody {
  readonly id: string;
  readonly effect: "created" | "updated";
  readonly key?: string | undefined;
  /** The name of the conditional record that was written. */
  readonly record?: string | undefined;
  readonly at: number;
  /** The JSON body sent. */
  readonly intent: unknown;
}

export type EffectFacts = Omit<LoggedEffect, "seq" | "at" | "effectId">;

export interface Logs {
  readonly arrivals: readonly Arrival[];
  readonly reads: readonly ReadArrival[];
  readonly effects: readonly LoggedEffect[];
  arrive(facts: Omit<Arrival, "seq" | "at">): Arrival;
  arriveRead(facts: Omit<ReadArrival, "seq" | "at">): ReadArrival;
  /** The effect happens. */
  make(facts: EffectFacts): LoggedEffect;
  /** The effect as it would be, which is all a liar makes. */
  pretend(facts: EffectFacts): LoggedEffect;
}

export function createLogs(now: () => number, random: () => number): Logs {
  const arrivals = createLog<Arrival>();
  const reads = createLog<ReadArrival>();
  const effects = createLog<LoggedEffect>();
  let seq = 0;

  const stamp = (): Logged => {
    seq += 1;
    return { seq, at: now() };
  };

  // The number keeps ids apart whatever `random` does, the rest keeps those of two services apart.
  const pretend = (facts: EffectFacts): LoggedEffect => {
    const stamped = stamp();
    const salt = Math.floor(random() * 2 ** 32).toString(36);
    return { ...stamped, ...facts, effectId: `ef_${salt}_${stamped.seq}` };
  };

  return {
    arrivals: arrivals.entries,
    reads: reads.entries,
    effects: effects.entries,
    arrive: (facts) => arrivals.append({ ...stamp(), ...facts }),
    arriveRead: (facts) => reads.append({ ...stamp(), ...facts }),
    make: (facts) => effects.append(pretend(facts)),
    pretend,
  };
}

export function effectBody(logged: LoggedEffect): EffectBody {
  const { effectId: id, effect, key, record, at, intent } = logged;
  return { id, effect, key, record, at, intent };
}

const refuse = (): boolean => false;

/** `entries` is live, and only `append` can change it. */
function createLog<T extends object>(): { readonly entries: readonly T[]; append(entry: T): T } {
  const entries: T[] = [];
  return {
    entries: new Proxy<readonly T[]>(entries, {
      set: refuse,
      defineProperty: refuse,
      deleteProperty: refuse,
      setPrototypeOf: refuse,
      preventExtensions: refuse,
    }),
    append(entry) {
      entries.push(Object.freeze(entry));
      return entry;
    },
  };
}

/** A conditional record. */
export interface RecordState {
  readonly value: unknown;
  readonly version: string;
}

/** The effects of one class that had happened at `asOf`. */
export function effectsOf(
  effects: readonly LoggedEffect[],
  toolClass: ToolClass,
  asOf: number = Number.POSITIVE_INFINITY,
): readonly LoggedEffect[] {
  return effects.filter((effect) => effect.class === toolClass && effect.at <= asOf);
}

/** Those whose key or top-level fields match all of the query, values compared as text. */
export function search(
  effects: readonly LoggedEffect[],
  query: URLSearchParams,
): readonly LoggedEffect[] {
  const wanted = [...query];
  return effects.filter((effect) =>
    wanted.every(([field, value]) =>
      field === "key" ? effect.key === value : fieldText(effect.intent, field) === value,
    ),
  );
}

/** The version of a list of effects: it moves with each of them. */
export function versionOf(effects: readonly LoggedEffect[]): string {
  return `"${effects.length}"`;
}

/** What is written under a name, given the effects of the conditional class. */
export function recordOf(effects: readonly LoggedEffect[], name: string): RecordState | undefined {
  const writes = effects.filter(({ record }) => record === name);
  const last = writes.at(-1);
  return last && { value: last.intent, version: versionOf(writes) };
}

function fieldText(intent: unknown, field: string): string | undefined {
  if (typeof intent !== "object" || intent === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(intent, field)?.value;
  const plain =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return plain ? String(value) : undefined;
}
