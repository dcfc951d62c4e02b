/**
 * The ways to call a tool: for its result, for its outcome, for what a model reads; or for its plan.
 *
 * @module
 */

import {
  ClosedError,
  InvalidInputError,
  isHoldfireError,
  StoreUnavailableError,
} from "../../errors.ts";
import type { Canonical } from "../../key/canonical.ts";
import { withTimeLimit } from "../../lang/clock.ts";
import type { CallOptions } from "../define/definition.ts";
import type { PlannedCall } from "../define/planned-call.ts";
import type { Tool } from "../define/tool.ts";
import { recognisesForgotten, registerTool } from "../define/tool.ts";
import { type Engine, inBackground, underWay } from "../engine.ts";
import { currentFrame, enterInner } from "../operation/nesting.ts";
import type { Caller, NamedCallOptions, Operation } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";
import { errorOf } from "../outcome/error-of.ts";
import { type Reply, replyOf } from "../outcome/reply.ts";
import { checkerOf } from "../outcome/words.ts";
import { runRead } from "../reads-and-samples/read-tool.ts";
import { runOperation } from "../run.ts";
import { askStore, inStoreTime, withinDeadline } from "../store-call.ts";
import { joinInThread, keepJoined } from "../thread.ts";
import { callerOf, snapshotArguments, snapshotOptions } from "./input.ts";
import { startOrJoin } from "./join.ts";
import { nameOperation } from "./name-operation.ts";

/** A guarded tool. Call it as the function it wraps. */
export interface GuardedTool<A, R> {
  /** The result; a typed error if it is not committed, or if its result was not kept. */
  (args: A, options?: CallOptions): Promise<R>;
  /**
   * What became of it, as a union on `status`. Throws only what is certain to have sent nothing; and, in a transaction of
   * the caller's, the error that keeps that transaction from being committed.
   */
  outcome(args: A, options?: CallOptions): Promise<Outcome<R>>;
  /** The JSON a model reads. */
  reply(args: A, options?: CallOptions): Promise<Reply<R>>;
  /** What the call would do: the tool's plan. Sends nothing, and needs no scope. */
  plan(args: A, options?: CallOptions): Promise<PlannedCall>;
  readonly toolName: string;
}

export function guard<A, R>(tool: Tool, engine: Engine): GuardedTool<A, R> {
  const callForOutcome = (args: A, options: NamedCallOptions = NO_OPTIONS) =>
    call(tool, args, options, engine, (outcome) => outcome as Outcome<R>);
  const result = (args: A, options: NamedCallOptions = NO_OPTIONS) =>
    call(tool, args, options, engine, (outcome) => resultIn(outcome as Outcome<R>));
  const guarded: GuardedTool<A, R> = Object.assign(result, {
    outcome: (args: A, options?: NamedCallOptions) => callForOutcome(args, options),
    reply: async (args: A, options: NamedCallOptions = NO_OPTIONS) =>
      replyOf(
        await callForOutcome(args, withStep(tool, snapshotOptions(options), engine)),
        checkerOf(tool.name, engine),
        tool.kind === "read",
      ),
    plan: async (args: A, options: NamedCallOptions = NO_OPTIONS) => {
      checkNotClosed(engine);
      return underWay(engine, planTool(tool, args, options, engine));
    },
    toolName: tool.name,
  });
  return registerTool(guarded, tool);
}

const NO_OPTIONS: NamedCallOptions = {};

/** `reply` is for a model: without a step, each call is a step of its own. */
const withStep = (
  { kind }: Tool,
  options: NamedCallOptions,
  { newId }: Engine,
): NamedCallOptions =>
  kind === "read" || options.step !== undefined ? options : { ...options, step: newId() };

function checkNotClosed(engine: Engine): void {
  // What a call under way still needs is part of that call.
  if (engine.isClosed() && !currentFrame()) throw new ClosedError();
}

async function planTool(
  tool: Tool,
  args: unknown,
  options: NamedCallOptions,
  engine: Engine,
): Promise<PlannedCall> {
  const own = snapshotOptions(options);
  const caller = callerOf(tool, own);
  const copy = await snapshotArguments(tool, args, caller.deadlineMs, engine);
  return engine.gate.plan(tool, copy, own, caller, engine);
}

function resultIn<R>(outcome: Outcome<R>): R {
  const error = errorOf(outcome);
  if (error) throw error;
  return (outcome as Extract<Outcome<R>, { status: "committed" }>).result as R;
}

/** `toReturn` makes what this way of calling returns of an outcome, or throws the error that stands for it. */
async function call<T>(
  tool: Tool,
  args: unknown,
  options: NamedCallOptions,
  engine: Engine,
  toReturn: (outcome: Outcome<unknown>) => T,
): Promise<T> {
  checkNotClosed(engine);
  const own = snapshotOptions(options);
  const caller = callerOf(tool, own);
  // The attempt of an outer operation is to hear of it.
  const inner = tool.kind === "read" ? undefined : enterInner();
  let outcome: Outcome<unknown>;
  engine.pending.begin();
  try {
    const checking = snapshotArguments(tool, args, caller.deadlineMs, engine);
    const copy = checking instanceof Promise ? await checking : checking;
    outcome = await (tool.kind === "read"
      ? runRead(tool, copy.value, caller, engine)
      : runWrite(tool, copy, own, caller, engine));
  } catch (error) {
    // Our errors are thrown only where nothing was done: before anything is sent, or in a transaction that is undone.
    const status = isHoldfireError(error) ? "not_applied" : "unknown";
    if (inner) Object.assign(inner, { status, error });
    throw error;
  } finally {
    engine.pending.end();
  }
  if (inner) {
    inner.status = outcome.status;
    inner.told = { id: outcome.id, errorOf: () => errorOf(outcome) };
  }
  try {
    return toReturn(outcome);
  } catch (error) {
    if (inner) inner.error = error;
    throw error;
  }
}

function runWrite(
  tool: Tool,
  args: Canonical,
  options: NamedCallOptions,
  given: Caller,
  engine: Engine,
): Promise<Outcome<unknown>> {
  if (!engine.ledger.isOpen()) {
    const opening = openLedger(given, engine);
    return opening.then((caller) => runWrite(tool, args, options, caller, engine));
  }
  checkStore(tool, engine);
  const named = nameOperation(tool, args, options, engine);
  const run = (operation: Operation) =>
    startOrJoin(operation, given, engine, runOperation).then((outcome) =>
      isToldOpen(outcome) || operation !== named
        ? noteTold(outcome, operation, named, engine)
        : outcome,
    );
  return named.inThread === undefined
    ? run(named)
    : joinEarlierTurn(named, args, options, given.deadlineMs, engine).then(run);
}

/** The caller, with the time that it has left then. */
async function openLedger(caller: Caller, engine: Engine): Promise<Caller> {
  const began = engine.clock.monotonic();
  const leftMs = () => caller.deadlineMs - (engine.clock.monotonic() - began);
  await askStore(withinDeadline(engine, leftMs), "open", engine.ledger.open());
  return { ...caller, deadlineMs: Math.max(leftMs(), 0) };
}

const isToldOpen = ({ status }: Outcome<unknown>): boolean =>
  status === "unknown" || status === "in_progress";

/** Before the caller is told: what the next turn of its thread has to know. */
async function noteTold(
  outcome: Outcome<unknown>,
  operation: Operation,
  named: Operation,
  engine: Engine,
): Promise<Outcome<unknown>> {
  const noting = async () => {
    if (isToldOpen(outcome)) await engine.gate.toldOpen(operation, engine);
    // A claim that was withdrawn meanwhile has let go of those who joined it.
    const { id } = operation.ref;
    if (operation !== named) await inStoreTime(engine, keepJoined(named, id, engine));
  };
  // A store that is down has kept the caller waiting already.
  if (outcome.recorded) await noting();
  else inBackground(engine, noting);
  return outcome;
}

/** The operation of an earlier turn that the call joins, or its own. */
async function joinEarlierTurn(
  own: Operation,
  args: Canonical,
  options: NamedCallOptions,
  deadlineMs: number,
  engine: Engine,
): Promise<Operation> {
  const joining = underWay(engine, joinInThread(own, engine));
  const joined = await withTimeLimit(engine.clock, deadlineMs, joining);
  if (joined.tag === "failed") throw joined.error;
  if (joined.tag === "late") throw new StoreUnavailableError("thread", undefined);
  if (!joined.value || joined.value.id === own.ref.id) return own;
  const { id, retry = options.retry } = joined.value;
  return nameOperation(own.tool, args, { ...options, retry }, engine, id);
}

/** A store that may forget cannot protect a write that can be neither recognised nor read afterwards. */
function checkStore(tool: Tool, engine: Engine): void {
  const { promise, name } = engine.ledger.store;
  if (!promise.mayForget || promise.forgettingAccepted) return;
  if (tool.readState || recognisesForgotten(tool)) return;
  throw new InvalidInputError(
    `tool "${tool.name}"`,
    `is neither keyed nor readable, and the ${name} store may forget that it was sent. Declare keyed or readState, use a store that keeps its records, or accept it ({ forgets: "accepted" }).`,
  );
}
