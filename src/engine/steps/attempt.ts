/**
 * Step 2: claim → **attempt** → classify. Fires the tool once and returns what happened as a value.
 *
 * Nothing is sent unless the ledger has the attempt and the lease outlasts it. When the time is up
 * the attempt is given up, not undone: what its `run` brings later is a late reply.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import { InvalidInputError } from "../../errors.ts";
import { operationScope } from "../../key/scope.ts";
import { withTimeLimit } from "../../lang/clock.ts";
import type { Licence } from "../../ledger/record.ts";
import { surrounding } from "../../observe/around.ts";
import type { WireToken } from "../../wire/token.ts";
import type { Engine } from "../engine.ts";
import { type Ended, fireOnce } from "../fire-once.ts";
import type { Frame } from "../operation/nesting.ts";
import { about, keyOf } from "../operation/operation.ts";
import { bufferResponse, type Result } from "../outcome/result.ts";
import { inStoreTime } from "../store-call.ts";
import type { Owned } from "./ownership.ts";
import { prepareAttempt, storedPrecondition } from "./prepare-attempt.ts";

const ENLISTED =
  "must not send requests: this operation is enlisted in a transaction, and a rollback cannot undo them.";

export interface Attempted {
  readonly n: number;
  /** `undefined`: its time was up, and it goes on. */
  readonly ended: Ended<Result> | undefined;
  readonly startedAt: number;
  readonly token: WireToken;
  readonly frame: Frame;
  /** What `run` has taken from its context. */
  readonly took: { key: boolean; precondition: boolean };
}

/** An attempt that was given up: what it brings after all. */
export type Late = Promise<Attempted & { readonly ended: Ended<Result> }>;

export type Fired = Attempted & { readonly late?: Late | undefined };

/** `undefined`: there was no licence, or something stood in the way; nothing was fired. */
export async function attemptEffect(owned: Owned, engine: Engine): Promise<Fired | undefined> {
  const { operation, execution, licence } = owned;
  if (!licence) return undefined;
  owned.licence = undefined;
  const timeoutMs = Math.min(operation.tool.attemptTimeoutMs, execution.remainingMs());
  const isResend = !owned.notePending;
  if (!(await prepareAttempt(owned, licence, timeoutMs, engine))) return undefined;
  if (isResend) engine.budgets.take(operation.tool.service);

  const n = owned.stored.record.fired;
  const over = beginAttempt(operation.ref.id, n, engine);
  const { attempted, ended, stop } = fire(owned, n, licence, engine);
  const inTime = await withTimeLimit(engine.clock, timeoutMs, ended);
  // Whether it ended or is given up: what `run` goes on to send must not leave.
  stop();
  if (inTime.tag === "done") {
    over();
    return { ...attempted, ended: inTime.value };
  }
  announceRunning(owned, n, ended, engine);
  const late = ended.then((value) => {
    over();
    return { ...attempted, ended: value };
  });
  return { ...attempted, ended: undefined, late };
}

function fire(owned: Owned, n: number, licence: Licence, engine: Engine) {
  const { operation, execution, stored } = owned;
  const { tool, ref, args } = operation;
  const { resource, generation } = stored.record;
  const frame: Frame = {
    operationId: ref.id,
    outer: [{ id: ref.id, resource }, ...(operation.outer ?? [])],
    inner: [],
  };
  const took = { key: false, precondition: false };
  const key = keyOf(operation, generation);
  const { value: precondition } = storedPrecondition(owned, engine);
  const startedAt = engine.clock.monotonic();

  execution.sent = true;
  owned.fires += 1;
  const inside = engine.events.has("attempt") ? surrounding() : undefined;
  if (inside) {
    const { around } = inside;
    const event = { ...about(operation, generation), attempt: n, licence, around };
    engine.events.emit("attempt", () => event);
  }
  const { token, ended, stop } = fireOnce<Result>({
    operationId: ref.id,
    attempt: n,
    refusal: engine.enlisted ? new InvalidInputError("run", ENLISTED) : undefined,
    stopped: execution.stopped,
    frame,
    scope: operationScope(ref.id),
    around: inside && ((start) => inside.run(start)),
    run: async (signal) => {
      const context = {
        get key() {
          took.key = true;
          return key;
        },
        get precondition() {
          took.precondition = true;
          return precondition;
        },
        attempt: n,
        get signal() {
          return signal();
        },
      };
      return resultOf(await tool.run(args, context));
    },
  });
  return { attempted: { n, startedAt, token, frame, took }, ended, stop };
}

function resultOf(value: unknown): Result | Promise<Result> {
  return isResponse(value) ? bufferedResult(value) : { value };
}

async function bufferedResult(value: Response): Promise<Result> {
  const { response, kept } = await bufferResponse(value);
  return { value: response, kept };
}

const NONE: readonly number[] = [];

/** Notes that the attempt runs; the returned function says that it has ended. */
export function beginAttempt(id: string, n: number, engine: Engine): () => void {
  const { runningAttempts } = engine;
  runningAttempts.set(id, [...(runningAttempts.get(id) ?? NONE), n]);
  return () => {
    const others = (runningAttempts.get(id) ?? NONE).filter((other) => other !== n);
    if (others.length > 0) runningAttempts.set(id, others);
    else runningAttempts.delete(id);
  };
}

/** Says at every third of a lease that the attempt still runs, until `running` settles. */
export function announceRunning(
  owned: Owned,
  n: number,
  running: Promise<unknown>,
  engine: Engine,
): void {
  const { leaseMs, operation } = owned;
  let over = false;
  let cancel = () => {};
  const beat = async (): Promise<void> => {
    // While the execution goes on, its lease says so.
    if (!owned.active) {
      const at = engine.ledger.clock.latest();
      const move = { move: "running", attempt: n, leaseMs, at } as const;
      const saying = engine.ledger.move(operation.ref, move);
      await inStoreTime(engine, saying);
    }
    if (!over && !engine.isClosed()) schedule();
  };
  const schedule = () => {
    cancel = engine.clock.after(leaseMs / 3, () => void beat(), true);
  };
  schedule();
  void running.finally(() => {
    over = true;
    cancel();
  });
}
