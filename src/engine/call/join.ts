/**
 * Joins the execution of an operation, or starts it: in one process its callers share one execution. Reconcile's runs apart
 * from theirs, and the two meet in the ledger. When the last caller has left, nothing new is fired, but what was sent is still
 * read and filed.
 *
 * @module
 */

import { type Instant, instantOf } from "../../lang/clock.ts";
import { runWithoutContext } from "../../lang/no-context.ts";
import { runWithoutToken } from "../../wire/token.ts";
import type { Engine } from "../engine.ts";
import type { Caller, Execution, FireMode } from "../operation/operation.ts";
import { about, type Operation } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";
import { announced, isAnnounced } from "../outcome/announce.ts";
import { commonOf, conflict, rewordedIn } from "../outcome/build.ts";
import { outcomeForCaller } from "../outcome/result.ts";
import { createExecution, type SharedExecution, type Waiting } from "./execution.ts";

/** Runs an operation to its outcome: `runOperation` in `engine/run.ts`, or what reconcile does in its place. */
export type RunOperation = (execution: Execution, engine: Engine) => Promise<Outcome<unknown>>;

export function startOrJoin(
  operation: Operation,
  caller: Caller,
  engine: Engine,
  run: RunOperation,
): Promise<Outcome<unknown>> {
  const { clock, live, calledBy } = engine;
  const at = instantOf(clock);
  const deadlineAt = at.monotonic + caller.deadlineMs;
  const { ref, tool } = operation;
  if (calledBy.isOther(ref, tool))
    return Promise.resolve(conflict(operation, "other_tool", engine));
  const joining: Joining = { operation, caller, deadlineAt, run };
  return live.execution(ref.id) ? joinRunning(joining, engine) : startNew(joining, at, engine);
}

/** A call on its way to an execution. */
interface Joining {
  readonly operation: Operation;
  readonly caller: Caller;
  readonly deadlineAt: number;
  readonly run: RunOperation;
}

function startNew(joining: Joining, at: Instant, engine: Engine): Promise<Outcome<unknown>> {
  const { operation, caller, deadlineAt, run } = joining;
  const { live, calledBy, pending } = engine;
  const { ref, tool } = operation;
  const execution = createExecution(operation, at, deadlineAt, "freely", engine);
  if (caller.signal?.aborted) execution.stop.abort();
  // Before it starts: what it does first may join it.
  live.begin(ref.id, execution);
  calledBy.note(ref, tool);
  // It may go on when its callers have left.
  pending.begin();
  start(execution, engine, run).then(
    (outcome) => {
      pending.end();
      live.end(ref.id);
      if (wasGivenUp(outcome)) calledBy.forget(ref);
      for (const one of execution.waits) {
        endWait(execution, one);
        one.resolve(outcomeForCaller(outcome, one.joined));
      }
    },
    (error: unknown) => {
      pending.end();
      live.end(ref.id);
      calledBy.forget(ref);
      for (const one of execution.waits) {
        endWait(execution, one);
        one.reject(error);
      }
    },
  );
  return wait(execution, joining, engine, false);
}

/** Waits for the execution that is running, and starts anew if that one ended without an answer. */
async function joinRunning(joining: Joining, engine: Engine): Promise<Outcome<unknown>> {
  const { operation, caller, deadlineAt } = joining;
  for (;;) {
    const running = engine.live.execution(operation.ref.id) as SharedExecution | undefined;
    if (!running) return startNew(joining, instantOf(engine.clock), engine);
    const { draft } = running.operation;
    if (draft.identity.fingerprint !== operation.draft.identity.fingerprint) {
      return conflict(operation, "other_intent", engine);
    }
    const mayBeOutOfDate = running.stopped.aborted || running.isAnswered;
    if (!mayBeOutOfDate && deadlineAt > running.deadlineAt) {
      running.deadlineAt = deadlineAt;
      for (const one of running.waits) leaveInTime(running, one, engine);
    }
    const outcome = await wait(running, joining, engine, true);
    const isOver = engine.clock.monotonic() >= deadlineAt || caller.signal?.aborted;
    // Other callers gave up before anything was sent, or while it was stopping; this one has not.
    if (!isOver && (mayBeOutOfDate ? isCutShort(outcome) : wasGivenUp(outcome))) continue;
    // It was only told again that it did not happen; this caller wants it tried again.
    const isReplayed = !running.sent && running.operation.retry === undefined;
    const isNo = outcome.status === "not_applied";
    if (!isOver && operation.retry !== undefined && isReplayed && isNo) continue;
    const reworded = rewordedIn(operation.draft, running.first ?? draft);
    return { ...outcome, reworded: reworded.length > 0 ? reworded : undefined };
  }
}

/**
 * An execution without a caller, apart from those that have one: the two meet in the ledger. It runs
 * outside the async context of whoever started it.
 */
export function executeWithoutCaller(
  operation: Operation,
  { signal, deadlineMs, fireMode }: Caller & { readonly fireMode: FireMode },
  engine: Engine,
  run: RunOperation,
): Promise<Outcome<unknown>> {
  const at = instantOf(engine.clock);
  const deadlineAt = at.monotonic + deadlineMs;
  const execution = createExecution(operation, at, deadlineAt, fireMode, engine);
  const onAbort = () => execution.stop.abort();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  const done = runWithoutContext(() => start(execution, engine, run));
  return done.finally(() => signal?.removeEventListener("abort", onAbort));
}

/**
 * Not inside the attempt of a caller's outer operation: what the engine itself asks of a store is no
 * request of that attempt.
 */
function start(
  execution: SharedExecution,
  engine: Engine,
  run: RunOperation,
): Promise<Outcome<unknown>> {
  const { operation, fireMode } = execution;
  const work = () => run(execution, engine);
  const announcing = () => announced(begun, engine, work);
  const begun = () => ({
    ...about(operation),
    kind: operation.tool.kind,
    toolCallId: operation.draft.aliases[0],
    by: fireMode === "freely" ? ("call" as const) : ("reconcile" as const),
  });
  return runWithoutToken(isAnnounced(engine) ? announcing : work);
}

function wait(
  execution: SharedExecution,
  { operation, deadlineAt, caller: { signal } }: Joining,
  engine: Engine,
  joined: boolean,
): Promise<Outcome<unknown>> {
  execution.callers += 1;
  return new Promise((resolve, reject) => {
    const one: Waiting = {
      operation,
      deadlineAt,
      joined,
      resolve,
      reject,
      isOver: false,
      hasTimer: false,
      letGo: undefined,
    };
    execution.waits.push(one);
    if (signal) leaveOn(signal, execution, one, engine);
    if (deadlineAt < execution.deadlineAt) leaveInTime(execution, one, engine);
  });
}

function endWait(execution: SharedExecution, one: Waiting): void {
  if (one.isOver) return;
  one.isOver = true;
  execution.callers -= 1;
  one.letGo?.();
}

function leave(execution: SharedExecution, one: Waiting, engine: Engine): void {
  endWait(execution, one);
  if (execution.callers === 0) execution.stop.abort();
  // The last caller to leave before anything was sent waits for the withdrawal, because that is certain. It also waits while
  // the ledger is told that a caller knows the outcome (`telling`): if that caller then heard only "in progress", the same
  // call in the next turn of its thread would be a new operation.
  if (execution.callers > 0 || (execution.sent && !execution.telling)) {
    one.resolve({ ...commonOf(one.operation, undefined, engine), status: "in_progress" });
  }
}

function leaveOn(
  signal: AbortSignal,
  execution: SharedExecution,
  one: Waiting,
  engine: Engine,
): void {
  const onAbort = () => leave(execution, one, engine);
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  one.letGo = () => signal.removeEventListener("abort", onAbort);
}

/**
 * Another caller waits for longer: this one leaves at its own deadline. The execution itself ends at the latest one,
 * with more to say than "still in progress".
 */
function leaveInTime(execution: SharedExecution, one: Waiting, engine: Engine): void {
  const leftMs = one.deadlineAt - engine.clock.monotonic();
  if (one.isOver || one.hasTimer || leftMs <= 0) return;
  one.hasTimer = true;
  const { letGo } = one;
  const cancel = engine.clock.after(leftMs, () => {
    if (execution.personMs === 0) leave(execution, one, engine);
  });
  one.letGo = () => {
    cancel();
    letGo?.();
  };
}

const wasGivenUp = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "not_applied" &&
  (outcome.reason === "aborted" || outcome.reason === "expired");

/** What an execution that stops, or has read its answer, may end in although more is so: a caller that has more time is told it. */
const CUT_SHORT = new Set<Outcome<unknown>["status"]>([
  "unknown",
  "not_applied",
  "held",
  "in_progress",
]);

const isCutShort = ({ status }: Outcome<unknown>): boolean => CUT_SHORT.has(status);
