/**
 * One write in the hands of the service, in steps, so that a fault can come between them: the key, the
 * precondition, the effect.
 *
 * @module
 */

import { type EffectFacts, effectBody, effectsOf, type Logs, recordOf, versionOf } from "./logs.ts";
import { type Answer, answer, errorAnswer } from "./reply.ts";
import { OFFERS, type ToolClass } from "./tool-class.ts";

export interface WriteRequest {
  readonly class: ToolClass;
  /** The name of the conditional record to write. */
  readonly record: string | undefined;
  readonly key: string | undefined;
  readonly intent: unknown;
  readonly identity: string;
  readonly precondition: Precondition;
  /** The `seq` of its arrival. */
  readonly arrival: number;
}

export interface Execution {
  /** Does what the class does. The key stays in use. Once: later calls give the first answer. */
  perform(): Answer;
  /** Performs, and stores the answer for the key. */
  commit(): Answer;
  /** Ends without an effect, and stores the failure for the key. Gives back what to answer. */
  fail(failure: Answer): Answer;
  /** Ends without an effect; the key is free again. */
  abandon(): void;
}

/** The request has reached the service. Here a known key is recognised, and a new one taken. */
export function begin(request: WriteRequest, logs: Logs, keys: KeyMemory): Execution {
  const taken = takeKey(request, keys);
  if (taken && "status" in taken) return answered(taken);

  let done: Answer | undefined;
  const perform = (): Answer => {
    done ??= act(request, logs);
    return done;
  };
  return {
    perform,
    commit() {
      const reply = perform();
      taken?.settle(reply);
      return reply;
    },
    fail(failure) {
      taken?.settle(failure);
      return failure;
    },
    abandon: () => taken?.release(),
  };
}

/** Nothing is left to do: the key has spoken. */
function answered(reply: Answer): Execution {
  const same = () => reply;
  return { perform: same, commit: same, fail: same, abandon() {} };
}

function takeKey(
  { class: toolClass, key, identity }: WriteRequest,
  keys: KeyMemory,
): Answer | KeyHold | undefined {
  if (key === undefined || !OFFERS[toolClass].keys) return undefined;
  return keys.take(`${toolClass}:${key}`, identity);
}

function act(request: WriteRequest, logs: Logs): Answer {
  const { class: toolClass, record, key, intent, identity, arrival } = request;
  const facts: EffectFacts = {
    class: toolClass,
    effect: "created",
    key,
    intent,
    identity,
    record,
    arrival,
  };
  if (toolClass === "liar") return answer(201, effectBody(logs.pretend(facts)));
  if (toolClass !== "conditional") return answer(201, effectBody(logs.make(facts)));
  return record === undefined
    ? actOnList(request, facts, logs)
    : actOnRecord(request, record, facts, logs);
}

function actOnList({ precondition }: WriteRequest, facts: EffectFacts, logs: Logs): Answer {
  const version = () => versionOf(effectsOf(logs.effects, "conditional"));
  if (!holds(precondition, version())) return errorAnswer(412, "precondition_failed");
  return answer(201, effectBody(logs.make(facts)), { etag: version() });
}

function actOnRecord(
  { precondition }: WriteRequest,
  name: string,
  facts: EffectFacts,
  logs: Logs,
): Answer {
  const version = () => recordOf(effectsOf(logs.effects, "conditional"), name)?.version;
  const before = version();
  if (isUnconditional(precondition)) return errorAnswer(428, "precondition_required");
  if (!holds(precondition, before)) return errorAnswer(412, "precondition_failed");
  const made = logs.make({ ...facts, effect: before ? "updated" : "created" });
  return answer(before ? 200 : 201, effectBody(made), { etag: version() ?? "" });
}

interface Precondition {
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

function isUnconditional({ ifMatch, ifNoneMatch }: Precondition): boolean {
  return ifMatch === undefined && ifNoneMatch === undefined;
}

/** `version` is what is there now; `undefined` if nothing is. */
export function holds(
  { ifMatch, ifNoneMatch }: Precondition,
  version: string | undefined,
): boolean {
  if (ifMatch !== undefined && !names(ifMatch, version)) return false;
  return ifNoneMatch === undefined || !names(ifNoneMatch, version);
}

/** A version may come with its quotes or without. */
function names(header: string, version: string | undefined): boolean {
  if (version === undefined) return false;
  const listed = header.split(",").map((one) => bare(one.trim()));
  return listed.includes("*") || listed.includes(bare(version));
}

function bare(version: string): string {
  return version.startsWith('"') && version.endsWith('"') ? version.slice(1, -1) : version;
}

interface Entry {
  readonly identity: string;
  readonly since: number;
  /** `undefined` while the first request is still running. */
  answer: Answer | undefined;
}

/** A request that is the first with its key. */
interface KeyHold {
  /** Stores the answer for all that come after. */
  settle(answer: Answer): void;
  /** Forgets the key: nothing was done. */
  release(): void;
}

export interface KeyMemory {
  /** Returns what to answer if the key is known, and holds the key if it is not. */
  take(key: string, identity: string): Answer | KeyHold;
}

export function createKeyMemory(now: () => number, keyMemoryMs: number): KeyMemory {
  const entries = new Map<string, Entry>();

  // A running request holds its key however long it runs.
  const remembered = (key: string): Entry | undefined => {
    const entry = entries.get(key);
    const forgotten = entry?.answer && now() - entry.since >= keyMemoryMs;
    return forgotten ? undefined : entry;
  };

  return {
    take(key, identity) {
      const known = remembered(key);
      if (known) return answerTo(known, identity);
      const entry: Entry = { identity, since: now(), answer: undefined };
      entries.set(key, entry);
      return {
        settle(answer) {
          entry.answer = answer;
        },
        release() {
          entries.delete(key);
        },
      };
    },
  };
}

function answerTo(known: Entry, identity: string): Answer {
  if (known.identity !== identity) return errorAnswer(422, "idempotency_error");
  if (known.answer === undefined) return errorAnswer(409, "idempotency_key_in_use");
  const { status, headers, body } = known.answer;
  return { status, body, headers: { ...headers, "idempotent-replayed": "true" } };
}
