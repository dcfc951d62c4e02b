/**
 * The ways to call a tool: for its result, for its outcome, for what a model reads; or for its plan.
 *
 * @module
 */

import { ClosedError, InvalidInputError, isHoldfireError } from "../../errors.ts";
import { checkRetry } from "../../key/check-name.ts";
import { positive } from "../define/define-tool.ts";
import type { CallOptions } from "../define/definition.ts";
import type { PlannedCall } from "../define/planned-call.ts";
import { checkOptions } from "../define/settings.ts";
import { putBehind } from "../define/tool-registry.ts";
import type { Engine, Tool } from "../engine.ts";
import { errorOf, type Outcome } from "../outcome/outcome.ts";
import { type Reply, replyOf } from "../outcome/reply.ts";
import { snapshotArguments } from "./arguments.ts";
import { currentFrame, enterInner, type Inner } from "./nesting.ts";
import type { Naming } from "./operation.ts";
import type { Bounds } from "./perform.ts";

/** A guarded tool. Call it as the function it wraps. */
export interface GuardedTool<A, R> {
  /** The result; a typed error if it is not committed. */
  (args: A, options?: CallOptions): Promise<R>;
  /** What became of it, as a union on `status`. Throws only what is certain to have sent nothing. */
  outcome(args: A, options?: CallOptions): Promise<Outcome<R>>;
  /** The JSON a model reads. */
  reply(args: A, options?: CallOptions): Promise<Reply<R>>;
  /** What the call would do: the tool's plan. Sends nothing, and needs no scope. */
  plan(args: A, options?: CallOptions): Promise<PlannedCall>;
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
  const guarded: GuardedTool<A, R> = Object.assign(result, {
    outcome: async (args: A, options?: Naming) => (await call(args, options)).outcome,
    reply: async (args: A, options?: Naming) =>
      replyOf(
        (await call(args, options)).outcome,
        tool.readState !== undefined,
        tool.kind === "read",
      ),
    plan: (args: A, options: Naming = {}) =>
      keptOpen(engine, () => planTool(tool, args, options, engine)),
    toolName: tool.name,
  });
  return putBehind(guarded, tool);
}

interface Called {
  readonly outcome: Outcome<unknown>;
  /** The attempt of an outer operation that is to hear of it. */
  readonly inner: Inner | undefined;
}

const callTool = (tool: Tool, args: unknown, options: Naming, engine: Engine): Promise<Called> =>
  keptOpen(engine, () => begin(tool, args, options, engine));

/** A call is under way from its first line: `close` waits for it. */
function keptOpen<T>(engine: Engine, call: () => Promise<T>): Promise<T> {
  // What a call under way still needs is part of that call.
  if (engine.isClosed() && !currentFrame()) return Promise.reject(new ClosedError());
  const calling = call();
  const settled: Promise<unknown> = calling.catch(() => {});
  engine.background.add(settled);
  void settled.then(() => engine.background.delete(settled));
  return calling;
}

function boundsOf(tool: Tool, options: Naming): Bounds {
  checkOptions(options, CALL_OPTIONS, "options");
  const signal = checkSignal(options.signal);
  if (options.retry !== undefined) checkRetry(options.retry);
  const deadlineMs = positive(options.deadlineMs ?? tool.deadlineMs, "options.deadlineMs");
  return { signal, deadlineMs };
}

async function planTool(
  tool: Tool,
  args: unknown,
  options: Naming,
  engine: Engine,
): Promise<PlannedCall> {
  const bounds = boundsOf(tool, options);
  const copy = await snapshotArguments(tool, args, bounds.deadlineMs, engine);
  return engine.gate.plan(tool, copy, options, bounds, engine);
}

async function begin(tool: Tool, args: unknown, options: Naming, engine: Engine): Promise<Called> {
  const bounds = boundsOf(tool, options);
  const inner = tool.kind === "read" ? undefined : enterInner();
  try {
    const copy = await snapshotArguments(tool, args, bounds.deadlineMs, engine);
    const perform = await engine.loadPerform();
    const outcome = await perform(tool, copy, options, bounds, engine);
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
