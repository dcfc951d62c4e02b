/**
 * A model call through a client that is not a plain function: what came back, value or error, is read
 * for what it says of trying again, and handed on as it came.
 *
 * @module
 */

import { checkOptions, positive, wholeNumber } from "../../../engine/define/check.ts";
import type { Engine } from "../../../engine/engine.ts";
import { engineOf } from "../../../engine/engine-of.ts";
import type { Ended } from "../../../engine/fire-once.ts";
import {
  DEFAULT_SAMPLES,
  runSample,
  type Sample,
  type SampleOptions,
} from "../../../engine/loops/sample.ts";
import { tryCall } from "../../../lang/peek.ts";
import { currentToken, wireFacts } from "../../../wire/token.ts";
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

/** What a failure says of trying again. A status of `undefined`: there was no answer. */
export interface FailureFacts {
  readonly status: number | undefined;
  readonly headers?: unknown;
  /** Of an answer that is not read if it is asked for again. */
  readonly body?: unknown;
}

export interface ClientCall<T> extends Pick<Sample<T>, "client" | "step" | "signal"> {
  /** Sends once. */
  readonly send: () => PromiseLike<T>;
  /** Finds a failure in a form that is the client's own; `undefined` = nothing to add. */
  readonly read?: (ended: Ended<T>) => FailureFacts | undefined;
}

export async function sampled<T>(call: ClientCall<T>, { hf, options }: SampleOwner): Promise<T> {
  const engine: Engine = engineOf(hf);
  let last: { readonly told: FailureFacts; readonly ended: Ended<T> } | undefined;
  const send = async (): Promise<T> => {
    drop(last?.told.body);
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
  }: Omit<ClientCall<never>, "send" | "read"> & {
    readonly open: () => AsyncIterable<T>;
  },
  owner: SampleOwner,
): AsyncGenerator<T> {
  const send = async () => {
    const parts = open()[Symbol.asyncIterator]();
    return { parts, first: await parts.next() };
  };
  const { parts, first } = await sampled({ ...call, send }, owner);
  try {
    for (let part = first; !part.done; part = await parts.next()) yield part.value;
  } finally {
    // Does nothing to a stream that has come to its end.
    await parts.return?.();
  }
}
