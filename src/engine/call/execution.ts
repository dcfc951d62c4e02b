/**
 * The flight belongs to the operation, not to a caller: one fires, the others wait, each under its
 * own signal and deadline. When the last has left nothing new is fired, but what was sent is still
 * read and filed.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import { rewordedFields } from "../../key/mint.ts";
import { runDetached } from "../../lang/detached.ts";
import { runWithoutToken } from "../../wire/token.ts";
import type { Engine } from "../engine.ts";
import { tellOperation } from "../outcome/operation-events.ts";
import type { Outcome } from "../outcome/outcome.ts";
import type { Fires } from "../steps/decide.ts";
import { runInFrame } from "./nesting.ts";
import { about, factsOf, type Operation } from "./operation.ts";

export type Waited<T> = { readonly tag: "done"; readonly value: T } | { readonly tag: "stopped" };

export interface Flight {
  readonly operation: Operation;
  /** When its last caller has left. */
  readonly stopped: AbortSignal;
  /** How long until the latest deadline of its callers, in milliseconds. */
  remainingMs(): number;
  /** A person's time is outside the deadline. */
  outsideDeadline<T>(wait: () => Promise<T>): Promise<Waited<T>>;
  /** What the user's own code does before anything is sent: nobody need wait for its end. */
  untilStopped<T>(wait: () => Promise<T>): Promise<Waited<T>>;
  /** Set before the first byte of an attempt. */
  sent: boolean;
  /** How freely it may send. @default "freely" */
  readonly fires?: Fires | undefined;
  readonly landed: Promise<Outcome<unknown>>;
}

interface Boarded extends Flight {
  deadlineAt: number;
  /** Milliseconds that people took. */
  added: number;
  callers: number;
  readonly stop: AbortController;
}

export interface Caller {
  readonly signal: AbortSignal | undefined;
  readonly deadlineMs: number;
}

export type Fly = (flight: Flight, engine: Engine) => Promise<Outcome<unknown>>;

/** Joins the flight of this operation, or starts it. */
export function board(
  operation: Operation,
  caller: Caller,
  engine: Engine,
  fly: Fly,
): Promise<Outcome<unknown>> {
  const name = `${operation.ref.tenant.length}:${operation.ref.tenant}${operation.ref.id}`;
  const underWay = engine.flights.get(name) as Boarded | undefined;
  const deadlineAt = engine.clock.monotonic() + caller.deadlineMs;
  const other = underWay?.operation.draft.identity.fingerprint;
  if (other !== undefined && other !== operation.draft.identity.fingerprint) {
    return Promise.resolve({ ...bare(operation, engine), status: "conflict" });
  }
  // One that is winding down fires no more: see how it ends, then look afresh.
  if (underWay?.stopped.aborted) {
    return travel(underWay, operation, deadlineAt, caller, engine, true).then((outcome) => {
      const deadlineMs = deadlineAt - engine.clock.monotonic();
      const over = outcome.status !== "unknown" && outcome.status !== "not_applied";
      if (over || deadlineMs <= 0 || caller.signal?.aborted) return outcome;
      return board(operation, { ...caller, deadlineMs }, engine, fly);
    });
  }
  if (!underWay) {
    const flight = takeOff(operation, deadlineAt, engine, fly);
    engine.flights.set(name, flight);
    const gone = () => engine.flights.delete(name);
    flight.landed.then(gone, gone);
    return travel(flight, operation, deadlineAt, caller, engine, false);
  }
  const { fields } = underWay.operation.draft;
  underWay.deadlineAt = Math.max(underWay.deadlineAt, deadlineAt);
  const reworded = rewordedFields(fields, operation.draft.fields);
  return travel(underWay, operation, deadlineAt, caller, engine, true).then((outcome) => {
    const deadlineMs = deadlineAt - engine.clock.monotonic();
    // Others gave up before anything was sent; this caller has not.
    if (isUnsent(outcome) && deadlineMs > 0 && !caller.signal?.aborted) {
      return board(operation, { ...caller, deadlineMs }, engine, fly);
    }
    return reworded.length > 0 ? { ...outcome, reworded } : outcome;
  });
}

/**
 * A flight without a caller, apart from those that have one: the two meet in the ledger. It is not in the
 * context of whoever started it; one with callers is in that of the caller who took off, whose arguments it has.
 */
export function flyAlone(
  operation: Operation,
  { signal, deadlineMs, fires }: Caller & { readonly fires: Fires },
  engine: Engine,
  fly: Fly,
): Promise<Outcome<unknown>> {
  const deadlineAt = engine.clock.monotonic() + deadlineMs;
  const { stop, landed } = runDetached(() => takeOff(operation, deadlineAt, engine, fly, fires));
  const onAbort = () => stop.abort();
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });
  return landed.finally(() => signal?.removeEventListener("abort", onAbort));
}

function takeOff(
  operation: Operation,
  deadlineAt: number,
  engine: Engine,
  fly: Fly,
  fires?: Fires,
): Boarded {
  const stop = new AbortController();
  const { clock } = engine;
  const by = fires === undefined ? "call" : "reconcile";
  const taken = { ...about(operation), kind: operation.tool.kind, by } as const;
  const flight: Boarded = {
    operation,
    stopped: stop.signal,
    stop,
    deadlineAt,
    added: 0,
    callers: 0,
    sent: false,
    fires,
    remainingMs: () => flight.deadlineAt + flight.added - clock.monotonic(),
    untilStopped: (wait) =>
      new Promise((resolve, reject) => {
        const onStop = () => resolve({ tag: "stopped" });
        if (stop.signal.aborted) return onStop();
        stop.signal.addEventListener("abort", onStop, { once: true });
        wait()
          .then((value) => resolve({ tag: "done", value }), reject)
          .finally(() => stop.signal.removeEventListener("abort", onStop));
      }),
    async outsideDeadline(wait) {
      const before = clock.monotonic();
      const already = flight.added;
      flight.added = Number.POSITIVE_INFINITY;
      try {
        return await flight.untilStopped(wait);
      } finally {
        flight.added = already + clock.monotonic() - before;
      }
    },
    // Not inside the attempt of a caller's outer operation: what the engine itself asks of a store
    // is no request of that attempt.
    landed: runWithoutToken(() =>
      runInFrame(undefined, () =>
        Promise.resolve().then(() => tellOperation(taken, engine, () => fly(flight, engine))),
      ),
    ),
  };
  return flight;
}

/** One caller's wait: until it lands, or until this caller leaves. */
function travel(
  flight: Boarded,
  operation: Operation,
  deadlineAt: number,
  { signal, deadlineMs }: Caller,
  engine: Engine,
  joined: boolean,
): Promise<Outcome<unknown>> {
  flight.callers += 1;
  return new Promise((resolve, reject) => {
    let aboard = true;
    const disembark = () => {
      if (!aboard) return;
      aboard = false;
      flight.callers -= 1;
      cancel();
      signal?.removeEventListener("abort", leave);
    };
    const leave = () => {
      disembark();
      if (flight.callers === 0) flight.stop.abort();
      // The last to leave a flight that has sent nothing waits for its withdrawal: that is certain.
      if (flight.callers > 0 || flight.sent) {
        resolve({ ...bare(operation, engine), status: "in_progress" });
      }
    };
    const cancel = engine.clock.after(deadlineMs, () => {
      // The flight itself ends at the latest deadline, with more to say than "still in progress".
      if (deadlineAt < flight.deadlineAt && flight.added === 0) leave();
    });
    flight.landed.then(
      (outcome) => {
        disembark();
        resolve(given(outcome, joined));
      },
      (error: unknown) => {
        disembark();
        reject(error);
      },
    );
    if (signal?.aborted) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
}

const isUnsent = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "not_applied" &&
  (outcome.reason === "aborted" || outcome.reason === "expired");

/** Each caller gets a body of its own, and one that joined caused nothing. */
function given(outcome: Outcome<unknown>, joined: boolean): Outcome<unknown> {
  if (outcome.status !== "committed" || outcome.resultLost) {
    return joined ? { ...outcome, replayed: true } : outcome;
  }
  const { result } = outcome;
  // A reader may hand over a Response it has read itself; that body is gone.
  if (isResponse(result) && result.bodyUsed) {
    const { result: _, ...rest } = outcome;
    return { ...rest, resultLost: true, replayed: joined || outcome.replayed };
  }
  const own = isResponse(result) ? { ...outcome, result: result.clone() } : outcome;
  return joined ? { ...own, result: copyOf(own.result), replayed: true, effect: "noop" } : own;
}

/** Nobody changes another caller's result; what cannot be copied is shared. */
function copyOf(result: unknown): unknown {
  if (isResponse(result)) return result;
  try {
    return structuredClone(result);
  } catch {
    return result;
  }
}

/** What can be said without looking anything up. */
const bare = (operation: Operation, engine: Engine) => ({
  ...factsOf(operation),
  replayed: false,
  recorded: true,
  attempts: 0,
  at: engine.ledger.clock.earliest(),
});
