/**
 * Step 2: claim → **attempt** → classify. Fires the tool once and returns what happened as a value.
 *
 * An attempt starts only if the ledger has its note and this process holds the lease. Its later requests leave only within
 * the time that was noted. What becomes of an attempt whose time is up is told in `still-running.ts`.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import type { Ended } from "../../classify/classify.ts";
import { InvalidInputError } from "../../errors.ts";
import { operationScope } from "../../key/scope.ts";
import { type Instant, instantOf } from "../../lang/clock.ts";
import { createStop } from "../../lang/stop.ts";
import { surrounding } from "../../observe/around.ts";
import type { Licence } from "../../reasons.ts";
import { FETCH_IS_SHOWN, type WireToken, type WriteTerms } from "../../wire/token.ts";
import { contextFrom, type Took } from "../attempt-context.ts";
import type { Engine } from "../engine.ts";
import { type Firing, fireOnce, type OnEnded } from "../fire-once.ts";
import { type Frame, innerFailureIn } from "../operation/nesting.ts";
import { about, keyOf } from "../operation/operation.ts";
import { bufferResponse } from "../outcome/response.ts";
import type { Result } from "../outcome/result.ts";
import { noteUnvetoable, sharedTerms, termsAfterEnd } from "./parts/late.ts";
import { mayStillSend } from "./parts/lease.ts";
import type { Owned } from "./parts/ownership.ts";
import { prepareAttempt, storedPrecondition } from "./parts/prepare-attempt.ts";
import { keepNotingRunning, stopSlowAttempts } from "./parts/still-running.ts";
import { attemptMsOf, type TimeToSend } from "./parts/time-to-send.ts";

const ENLISTED =
  "must not send requests: this operation is enlisted in a transaction, and a rollback cannot undo them.";

/** How long the body is waited for of an answer that began after the time of its attempt. */
const LATE_BODY_MS = 1_000;

export interface Attempted {
  readonly n: number;
  /** `undefined` while it runs. Classified like that, its time was up; how it ends after all comes by `late`. */
  ended: Ended<Result> | undefined;
  readonly startedAt: number;
  /** Until when it may send. */
  readonly time: TimeToSend;
  readonly token: WireToken;
  readonly frame: Frame;
  /** What `run` has taken from its context. */
  readonly took: Took;
  /** Set while the body of its answer comes: lets go of it, as far as it has come. */
  handOver: (() => void) | undefined;
  /** Its time was up while it ran. */
  isOvertime: boolean;
}

/** An attempt whose time was up: how it ends after all. */
export type Late = Promise<Attempted & { readonly ended: Ended<Result> }>;

export type FiredAttempt = Attempted & { readonly late?: Late | undefined };

/** `at` is now. `undefined`: there was no licence, or something stood in the way; nothing was fired. */
export function attemptEffect(
  owned: Owned,
  at: Instant,
  engine: Engine,
): undefined | Promise<FiredAttempt | undefined> {
  const { execution, licence } = owned;
  if (!licence) return undefined;
  owned.licence = undefined;
  const timeoutMs = attemptMsOf(execution, at);
  const preparing = prepareAttempt(owned, licence, timeoutMs, at, engine);
  if (!(preparing instanceof Promise)) {
    return preparing && fireInTime(owned, licence, preparing, timeoutMs, at, engine);
  }
  return preparing.then(
    (time) => time && fireInTime(owned, licence, time, timeoutMs, instantOf(engine.clock), engine),
  );
}

function fireInTime(
  owned: Owned,
  licence: Licence,
  time: TimeToSend,
  timeoutMs: number,
  at: Instant,
  engine: Engine,
): Promise<FiredAttempt> {
  const { operation } = owned;
  owned.resendAt = undefined;
  stopSlowAttempts(owned);
  const n = owned.stored.record.fired;
  engine.live.beginAttempt(operation.ref.id, n);
  // `fireOnce` calls back only after it has returned: `attempted` and `cancel` are set by then. `run` uses `attempted`
  // only after its `await`.
  return new Promise((resolve) => {
    /** Set once its time is up: how it ends after all. */
    let whenLate: ((ended: Ended<Result>) => void) | undefined;
    const { attempted, stop, succeeded } = fire(owned, n, licence, time, at, engine, (how) => {
      cancel();
      // Whatever a `run` that failed has left behind is told to stop.
      if (how.ok) succeeded();
      else stop();
      engine.live.endAttempt(operation.ref.id, n);
      owned.slow?.delete(n);
      attempted.ended = how;
      if (whenLate) whenLate(how);
      else resolve(attempted);
    });
    const timeIsUp = (): void => {
      const { handOver } = attempted;
      if (handOver) {
        // The service has answered: only the rest of its answer is slow, and that is the caller's to read. What else `run`
        // has left open is slow all the same.
        attempted.handOver = undefined;
        handOver();
        cancel = engine.clock.after(0, timeIsUp);
        return;
      }
      attempted.isOvertime = true;
      const { token } = attempted;
      owned.slow ??= new Map();
      owned.slow.set(n, { time, stop });
      const running = new Promise<Ended<Result>>((settle) => {
        whenLate = settle;
      });
      keepNotingRunning(owned, { n, time, token, stop }, running, engine);
      const late = running.then((ended) => ({ ...attempted, ended }));
      // A copy: `attempted` gets its `ended` later, and what is classified now must not have it.
      resolve({ ...attempted, late });
    };
    let cancel = engine.clock.after(timeoutMs, timeIsUp);
  });
}

function fire(
  owned: Owned,
  n: number,
  licence: Licence,
  time: TimeToSend,
  at: Instant,
  engine: Engine,
  onEnded: OnEnded<Result>,
) {
  const { operation, execution, stored } = owned;
  const { tool, ref, args } = operation;
  const { resource, generation } = stored.record;
  const own = { id: ref.id, resource };
  const frame: Frame = {
    operationId: ref.id,
    outer: operation.outer ? [own, ...operation.outer] : [own],
    inner: [],
  };
  const took = { key: false, precondition: false };
  const key = keyOf(operation, generation);
  const { value: precondition } = storedPrecondition(owned, engine);
  owned.unfiredTime = undefined;

  execution.sent = true;
  owned.fires += 1;
  const inside = engine.events.has("attempt") ? surrounding() : undefined;
  if (inside) {
    const { around } = inside;
    const event = { ...about(operation, generation), attempt: n, licence, around };
    engine.events.emit("attempt", () => event);
  }
  const firing: Firing<Result> = {
    operationId: ref.id,
    attempt: n,
    refusal: engine.enlisted ? new InvalidInputError("run", ENLISTED) : undefined,
    stopped: execution.stopped,
    frame,
    scope: operationScope(ref.id),
    around: inside && ((start) => inside.run(start)),
    makeTerms: termsWhileRunning(owned, n, time, engine),
    termsAfterEnd: termsAfterEnd(operation, n, engine),
    group: engine.ledger.store,
    run: async (signal, token) => {
      const { keyHeader } = tool;
      const source = { key, precondition, attempt: n, keyHeader, signal, token, took };
      const value = await tool.run(args, contextFrom(source));
      const failure = innerFailureIn(value, frame);
      if (failure !== undefined) throw failure;
      return isResponse(value) ? bufferedResult(value, signal(), attempted, engine) : { value };
    },
  };
  const { token, stop, succeeded } = fireOnce(firing, onEnded);
  if (!tool.viaHttp && !FETCH_IS_SHOWN) noteUnvetoable(operation, n, engine);
  const attempted: Attempted = {
    n,
    ended: undefined,
    startedAt: at.monotonic,
    time,
    token,
    frame,
    took,
    handOver: undefined,
    isOvertime: false,
  };
  return { attempted, stop, succeeded };
}

/** No request that can be stopped leaves after the time at which the ledger says that the attempt has ended. */
const termsWhileRunning =
  (owned: Owned, n: number, time: TimeToSend, engine: Engine): (() => WriteTerms) =>
  () => ({
    ...sharedTerms(owned.operation, n, engine),
    mayStillSend: (isFirst) => mayStillSend(owned, time, isFirst, instantOf(engine.clock)),
  });

async function bufferedResult(
  value: Response,
  signal: AbortSignal,
  attempted: Attempted,
  { codec: { maxBytes }, clock }: Engine,
): Promise<Result> {
  const { signal: enough, abort } = createStop();
  attempted.handOver = abort;
  // The time that would end it has passed: a body that is short comes soon after its head.
  const cancel = attempted.isOvertime ? clock.after(LATE_BODY_MS, abort, true) : undefined;
  const limits = { maxBytes, signal, enough };
  const { response, kept, isUnread } = await bufferResponse(value, limits);
  cancel?.();
  attempted.handOver = undefined;
  return { value: response, kept, isUnread };
}
