/**
 * One write in the hands of the service, in steps, so that a fault can come between them.
 *
 * @module
 */

import { type Answer, answer, errorAnswer } from "./answer.ts";
import type { KeyHold, KeyMemory } from "./key-memory.ts";
import { type EffectFacts, effectBody, type Logs } from "./logs.ts";
import { holds, isUnconditional, type Precondition } from "./precondition.ts";
import { effectsOf, recordOf, versionOf } from "./state.ts";
import { offerOf, type ToolClass } from "./tool-class.ts";

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
  if (key === undefined || !offerOf(toolClass).keys) return undefined;
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
