/**
 * A model call through a client that is not a plain function: what came back, value or error, is read
 * for what it says of trying again, and handed on as it came.
 *
 * @module
 */

import type { Ended } from "../../../classify/classify.ts";
import { checkOptions, positive, wholeNumber } from "../../../engine/define/check.ts";
import type { Engine } from "../../../engine/engine.ts";
import { engineOf } from "../../../engine/engine-of.ts";
import { type AnswerFacts, beginModelCall } from "../../../engine/reads-and-samples/model-call.ts";
import {
  DEFAULT_SAMPLES,
  runSample,
  type Sample,
  type SampleOptions,
} from "../../../engine/reads-and-samples/sample.ts";
import { tryCall } from "../../../lang/peek.ts";
import type { HoldfireEvents } from "../../../observe/events.ts";
import { currentToken, wireFacts } from "../../../wire/token.ts";
import { finalError } from "./final-error.ts";
import type { HoldfireLike } from "./own-client.ts";

/** By whom and how a client is owned. */
export interface SampleOwner {
  readonly hf: HoldfireLike;
  readonly options: Required<SampleOptions>;
}

/** The options that every sample has, with the defaults filled in. `known`: those that may stand beside them. */
export function checkSampleOptions(
  options: SampleOptions,
  known: readonly string[] = [],
): Required<SampleOptions> {
  checkOptions(options, ["attempts", "deadlineMs", ...known], "options");
  const { attempts, deadlineMs } = options;
  return {
    attempts: wholeNumber(attempts ?? DEFAULT_SAMPLES.attempts, "options.attempts"),
    deadlineMs: positive(deadlineMs ?? DEFAULT_SAMPLES.deadlineMs, "options.deadlineMs"),
  };
}

/** Checks what `ownRetries` was given, long before anything is sent. */
export function checkOwner(hf: HoldfireLike, options: SampleOptions): SampleOwner {
  engineOf(hf);
  return { hf, options: checkSampleOptions(options) };
}

const owners = new WeakMap<object, SampleOwner>();

/** Who owns this object now; owning it anew replaces the options. */
export const ownerOf = (target: object): SampleOwner | undefined => owners.get(target);

/** Makes `owner` the owner; `replace` puts in the owned methods, the first time. */
export function own<T extends object>(
  target: T,
  owner: SampleOwner,
  replace: (current: () => SampleOwner) => void = () => {},
): T {
  const isFirst = !owners.has(target);
  owners.set(target, owner);
  if (isFirst) replace(() => owners.get(target) ?? owner);
  return target;
}

export type AskedOf = Pick<HoldfireEvents["model_call"], "operation" | "provider" | "model">;

/** What a failure says of trying again. A status of `undefined`: there was no answer. */
export interface FailureFacts {
  readonly status: number | undefined;
  readonly headers?: unknown;
  /** Of an answer that is not read if it is asked for again. */
  readonly body?: unknown;
}

export interface ClientCall<T> extends Pick<Sample<T>, "client" | "step" | "signal" | "once"> {
  /** What is asked of which model; left out where none is asked. */
  readonly asked?: AskedOf | undefined;
  /** What an answer says of itself. */
  readonly facts?: ((answer: T) => AnswerFacts) | undefined;
  /** Sends once. */
  readonly send: () => PromiseLike<T>;
  /** Finds a failure in a form that is the client's own; `undefined` = nothing to add. */
  readonly read?: (ended: Ended<T>) => FailureFacts | undefined;
}

/** A sample whose answer is whole when it comes. */
export async function sampled<T>(call: ClientCall<T>, owner: SampleOwner): Promise<T> {
  const { answer, ended } = await sampledOpen(call, owner);
  ended(call.facts?.(answer));
  return answer;
}

interface OpenAnswer<T> {
  readonly answer: T;
  /** Whether anybody is told how it ends. */
  readonly isHeard: boolean;
  readonly ended: (facts?: AnswerFacts) => void;
}

/** A sample whose answer is read on: `ended` says that it was, or that it broke off. */
export async function sampledOpen<T>(
  call: ClientCall<T>,
  owner: SampleOwner,
): Promise<OpenAnswer<T>> {
  const engine: Engine = engineOf(owner.hf);
  const { client, step, asked } = call;
  const named = asked && { client, step, ...asked };
  const made = beginModelCall(named, engine);
  let attempt = 0;
  const sending = () => {
    attempt += 1;
    made.sending();
  };
  function ended(facts: AnswerFacts = {}): void {
    const { inputTokens, outputTokens, partial = false } = facts;
    const isTold = inputTokens !== undefined || outputTokens !== undefined;
    // Where the client under it is owned as well, it has told of them.
    if (named && isTold && !made.isCounted()) {
      const tokens = { inputTokens, outputTokens };
      engine.events.emit("usage", () => ({ ...named, attempt, ...tokens, partial }));
    }
    made.ended(facts);
  }
  try {
    const answer = await made.run(() => sendUntilAnswered(call, owner, sending, engine));
    return { answer, isHeard: made.isHeard, ended };
  } catch (error) {
    made.failed(error);
    throw finalError(error);
  }
}

async function sendUntilAnswered<T>(
  call: ClientCall<T>,
  { options }: SampleOwner,
  sending: () => void,
  engine: Engine,
): Promise<T> {
  let last: { readonly told: FailureFacts; readonly ended: Ended<T> } | undefined;
  const send = async (): Promise<T> => {
    drop(last?.told.body);
    sending();
    const ended = await settle(call.send);
    const told = call.read?.(ended) ?? (ended.ok ? undefined : unanswered());
    if (told) {
      last = { told, ended };
      throw told;
    }
    return outcome(ended);
  };
  try {
    return await runSample({ ...call, ...options, send }, engine);
  } catch (error) {
    if (!last || error !== last.told) throw error;
    return outcome(last.ended);
  }
}

/** It is not read any more; left open, it would hold its connection. */
function drop(body: unknown): void {
  const dropped = tryCall(body, "cancel");
  if (dropped instanceof Promise) dropped.catch(() => {});
}

/** An error that no longer shows its cause: the wire knows whether there was an answer. */
export function unanswered(): FailureFacts | undefined {
  const token = currentToken();
  const wire = token && wireFacts(token);
  if (!wire || wire.wireRequests === 0 || wire.answered !== undefined) return undefined;
  return { status: undefined };
}

async function settle<T>(send: () => PromiseLike<T>): Promise<Ended<T>> {
  try {
    return { ok: true, value: await send() };
  } catch (error) {
    return { ok: false, error };
  }
}

function outcome<T>(ended: Ended<T>): T {
  if (ended.ok) return ended.value;
  throw ended.error;
}

/** A stream is tried again until its first part has come; then it is the reader's. */
export async function* sampledStream<T>(
  {
    open,
    ...call
  }: Omit<ClientCall<never>, "send" | "read" | "facts"> & {
    readonly open: () => AsyncIterable<T>;
  },
  owner: SampleOwner,
): AsyncGenerator<T> {
  const send = async () => {
    const parts = open()[Symbol.asyncIterator]();
    return { parts, first: await parts.next() };
  };
  const { answer, ended } = await sampledOpen({ ...call, send }, owner);
  const { parts, first } = answer;
  let partial = true;
  try {
    for (let part = first; !part.done; part = await parts.next()) yield part.value;
    partial = false;
  } catch (error) {
    throw finalError(error);
  } finally {
    ended({ partial });
    // Does nothing to a stream that has come to its end.
    await parts.return?.();
  }
}
