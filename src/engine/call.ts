/**
 * The three ways to call a tool: for its result, for its outcome, for what a model reads.
 *
 * @module
 */

import { ClosedError, InvalidInputError, isHoldfireError } from "../errors.ts";
import { checkRetry } from "../key/name.ts";
import { positive } from "./define.ts";
import type { Engine, Tool } from "./engine.ts";
import { currentFrame, enterInner, type Inner } from "./nesting.ts";
import type { Naming } from "./operation.ts";
import { errorOf, type Outcome } from "./outcome.ts";
import { type Reply, replyOf } from "./reply.ts";
import { checkOptions } from "./settings.ts";
import { snapshotArguments } from "./snapshot.ts";
import type { CallOptions } from "./tool.ts";

/** A guarded tool. Call it as the function it wraps. */
export interface GuardedTool<A, R> {
  /** The result; a typed error if it is not committed. */
  (args: A, options?: CallOptions): Promise<R>;
  /** What became of it, as a union on `status`. Throws only what is certain to have sent nothing. */
  outcome(args: A, options?: CallOptions): Promise<Outcome<R>>;
  /** The JSON a model reads. */
  reply(args: A, options?: CallOptions): Promise<Reply<R>>;
  readonly toolName: string;
}

const CALL_OPTIONS = ["scope", "again", "retry", "signal", "deadlineMs", "aliases", "key"];

export function guard<A, R>(tool: Tool, engine: Engine): GuardedTool<A, R> {
  const call = async (args: A, options: Naming = {}) => {
    const { outcome, inner } = await callTool(tool, args, options, engine);
    return { outcome: outcome as Outcome<R>, inner };
  };
  const result = async (args: A, options?: Naming): Promise<R> => {
    const { outcome, inner } = await call(args, options);
    const error = errorOf(outcome);
    if (error) {
      if (inner) inner.error = error;
      throw error;
    }
    return (outcome as Extract<Outcome<R>, { status: "committed" }>).result as R;
  };
  return Object.assign(result, {
    outcome: async (args: A, options?: Naming) => (await call(args, options)).outcome,
    reply: async (args: A, options?: Naming) =>
      replyOf((await call(args, options)).outcome, tool.readState !== undefined),
    toolName: tool.name,
  });
}

interface Called {
  readonly outcome: Outcome<unknown>;
  /** The attempt of an outer operation that is to hear of it. */
  readonly inner: Inner | undefined;
}

/** A call is under way from its first line: `close` waits for it. */
function callTool(tool: Tool, args: unknown, options: Naming, engine: Engine): Promise<Called> {
  // What a call under way still needs is part of that call.
  if (engine.isClosed() && !currentFrame()) return Promise.reject(new ClosedError());
  const calling = begin(tool, args, options, engine);
  const settled: Promise<unknown> = calling.catch(() => {});
  engine.background.add(settled);
  void settled.then(() => engine.background.delete(settled));
  return calling;
}

async function begin(tool: Tool, args: unknown, options: Naming, engine: Engine): Promise<Called> {
  checkOptions(options, CALL_OPTIONS, "options");
  const signal = checkSignal(options.signal);
  if (options.retry !== undefined) checkRetry(options.retry);
  const deadlineMs = positive(options.deadlineMs ?? tool.deadlineMs, "options.deadlineMs");
  const inner = tool.kind === "read" ? undefined : enterInner();
  try {
    const copy = await snapshotArguments(tool, args, deadlineMs, engine);
    const perform = await engine.loadPerform();
    const outcome = await perform(tool, copy, options, { signal, deadlineMs }, engine);
    if (inner) inner.status = outcome.status;
    return { outcome, inner };
  } catch (error) {
    // Our errors are thrown only before anything is sent; all else is an outcome.
    const status = isHoldfireError(error) ? "not_applied" : "unknown";
    if (inner) Object.assign(inner, { status, error });
    throw error;
  }
}

/** Duck typed, as everywhere: signals of other realms and polyfills are good enough. */
function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const { aborted, addEventListener, removeEventListener } = Object(signal) as AbortSignal;
  const fits =
    typeof aborted === "boolean" &&
    typeof addEventListener === "function" &&
    typeof removeEventListener === "function";
  if (!fits) throw new InvalidInputError("options.signal", "must be an AbortSignal");
  return signal;
}
