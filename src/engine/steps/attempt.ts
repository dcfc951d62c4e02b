/**
 * Step 2: claim → **attempt** → classify. Fires the tool once and returns what happened as a value.
 *
 * Nothing is sent unless the ledger has the attempt and the lease is held. What becomes of an attempt whose time is up
 * is told in `still-running.ts`.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import type { Ended } from "../../classify/classify.ts";
import { InvalidInputError } from "../../errors.ts";
import { operationScope } from "../../key/scope.ts";
import { instantOf, withTimeLimit } from "../../lang/clock.ts";
import type { Licence } from "../../ledger/record.ts";
import { surrounding } from "../../observe/around.ts";
import { showsFetch } from "../../wire/platform-fetch.ts";
import type { WireToken, WriteTerms } from "../../wire/token.ts";
import { contextFrom, type Took } from "../attempt-context.ts";
import type { Engine } from "../engine.ts";
import { fireOnce } from "../fire-once.ts";
import type { Frame } from "../operation/nesting.ts";
import { about, keyOf } from "../operation/operation.ts";
import { bufferResponse } from "../outcome/response.ts";
import type { Result } from "../outcome/result.ts";
import { noteUnvetoable, sharedTerms, termsAfterEnd } from "./late.ts";
import { mayStillSend } from "./lease.ts";
import type { Owned } from "./ownership.ts";
import { prepareAttempt, storedPrecondition } from "./prepare-attempt.ts";
import { beginAttempt, endAttempt, keepNotingRunning, stopSlowAttempts } from "./still-running.ts";
import { attemptMsOf, type TimeToSend, timeToSendOf } from "./time-to-send.ts";

const ENLISTED =
  "must not send requests: this operation is enlisted in a transaction, and a rollback cannot undo them.";

export interface Attempted {
  readonly n: number;
  /** Set when it ends in time. `undefined`: its time was up, and it goes on. */
  ended: Ended<Result> | undefined;
  readonly startedAt: number;
  /** Until when it may send. */
  readonly time: TimeToSend;
  readonly token: WireToken;
  readonly frame: Frame;
  /** What `run` has taken from its context. */
  readonly took: Took;
}

/** An attempt whose time was up: how it ends after all. */
export type Late = Promise<Attempted & { readonly ended: Ended<Result> }>;

export type FiredAttempt = Attempted & { readonly late?: Late | undefined };

/** `undefined`: there was no licence, or something stood in the way; nothing was fired. */
export async function attemptEffect(
  owned: Owned,
  engine: Engine,
): Promise<FiredAttempt | undefined> {
  const { operation, execution, licence } = owned;
  if (!licence) return undefined;
  owned.licence = undefined;
  const now = instantOf(engine.clock);
  const timeoutMs = attemptMsOf(execution, now);
  const preparing = prepareAttempt(owned, licence, timeoutMs, now, engine);
  if (!(preparing instanceof Promise ? await preparing : preparing)) return undefined;
  owned.resendAt = undefined;

  stopSlowAttempts(owned);
  const n = owned.stored.record.fired;
  beginAttempt(operation.ref.id, n, engine);
  const { attempted, ended, stop } = fire(owned, n, licence, engine);
  const inTime = await withTimeLimit(engine.clock, timeoutMs, ended);
  const end = (how: Ended<Result>) => {
    // Whatever `run` has left behind is told to stop; a body that the caller is still to read is not.
    if (!(how.ok && how.value.isUnread)) stop();
    endAttempt(operation.ref.id, n, engine);
    owned.waitedFor?.delete(n);
  };
  if (inTime.tag === "done") {
    end(inTime.value);
    attempted.ended = inTime.value;
    return attempted;
  }
  owned.waitedFor ??= new Map();
  owned.waitedFor.set(n, { time: attempted.time, stop });
  keepNotingRunning(owned, n, ended, engine);
  const late = ended.then((value) => {
    end(value);
    return { ...attempted, ended: value };
  });
  return { ...attempted, late };
}

function fire(owned: Owned, n: number, licence: Licence, engine: Engine) {
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
  const startedAt = engine.clock.monotonic();
  const time = owned.sendTime ?? timeToSendOf(undefined, engine);

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
    makeTerms: termsWhileRunning(owned, n, time, engine),
    termsAfterEnd: termsAfterEnd(operation, n, engine),
    group: engine.ledger.store,
    run: async (signal, token) => {
      const source = {
        key,
        precondition,
        attempt: n,
        keyHeader: tool.keyHeader,
        signal,
        token,
        took,
      };
      const value = await tool.run(args, contextFrom(source));
      return isResponse(value) ? bufferedResult(value, signal(), engine) : { value };
    },
  });
  if (!tool.viaHttp && !showsFetch()) noteUnvetoable(operation, n, engine);
  const attempted: Attempted = { n, ended: undefined, startedAt, time, token, frame, took };
  return { attempted, ended, stop };
}

/** Nothing leaves after the time at which the ledger says that the attempt has ended. */
const termsWhileRunning =
  (owned: Owned, n: number, time: TimeToSend, engine: Engine): (() => WriteTerms) =>
  () => ({
    ...sharedTerms(owned.operation, n, engine),
    mayStillSend: (isFirst) => mayStillSend(owned, time, isFirst, instantOf(engine.clock)),
  });

async function bufferedResult(
  value: Response,
  signal: AbortSignal,
  { codec: { maxBytes } }: Engine,
): Promise<Result> {
  const { response, kept, isUnread } = await bufferResponse(value, { maxBytes, signal });
  return { value: response, kept, isUnread };
}
