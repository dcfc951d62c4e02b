/**
 * Step 2: claim → **attempt** → classify. Fires the tool once and returns what happened as a value.
 *
 * Nothing is sent unless the ledger has the attempt and the lease outlasts it. When the time is up
 * the attempt is given up, not undone: what its `run` brings later is filed.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import { InvalidInputError } from "../../errors.ts";
import type { Json } from "../../key/json.ts";
import { enterOperation } from "../../key/scope.ts";
import { within } from "../../lang/time-limit.ts";
import { surrounding } from "../../observe/around.ts";
import { createToken, runWithToken, type WireToken } from "../../wire/token.ts";
import { type Frame, runInFrame } from "../call/nesting.ts";
import { about } from "../call/operation.ts";
import { declaredBy, type Engine, inBackground } from "../engine.ts";
import { bufferResponse } from "../outcome/response.ts";
import { mayStillResend } from "./decide.ts";
import { fileLate } from "./late-reply.ts";
import { leaseCovers, loseLease } from "./lease.ts";
import {
  endingsOf,
  forget,
  keyOf,
  type Owned,
  type Result,
  relearn,
  remember,
  situationOf,
} from "./ownership.ts";
import { beginAttempt, keepSaying } from "./running-attempts.ts";

const ENLISTED =
  "must not send requests: this operation is enlisted in a transaction, and no rollback calls them back";

export type Ended =
  | ({ readonly ok: true } & Result)
  | { readonly ok: false; readonly error: unknown };

export interface Attempted {
  readonly n: number;
  /** `undefined`: its time was up, and it goes on. */
  readonly ended: Ended | undefined;
  readonly startedAt: number;
  readonly token: WireToken;
  readonly frame: Frame;
  /** What `run` has taken from its context. */
  readonly took: { key: boolean; precondition: boolean };
}

export async function attemptEffect(owned: Owned, engine: Engine): Promise<Attempted | undefined> {
  const { operation, flight } = owned;
  const { tool, ref, args } = operation;
  const { licence } = owned;
  if (!licence) return undefined;
  owned.licence = undefined;
  const timeoutMs = Math.min(tool.attemptTimeoutMs, flight.remainingMs());
  const isResend = !owned.noted;
  if (!(await mayStart(owned, licence, timeoutMs, engine))) return undefined;

  const n = owned.stored.record.fired;
  const stop = new AbortController();
  const giveUp = () => stop.abort();
  flight.stopped.addEventListener("abort", giveUp, { once: true });
  const startedAt = engine.clock.monotonic();
  const refusal = engine.enlisted ? new InvalidInputError("run", ENLISTED) : undefined;
  const token = createToken({ operationId: ref.id, attempt: n, refusal });
  const { resource } = owned.stored.record;
  const outer = [{ id: ref.id, resource }, ...(operation.outer ?? [])];
  const frame: Frame = { operationId: ref.id, outer, inner: [] };
  const took = { key: false, precondition: false };
  const key = keyOf(owned);
  const { value: precondition } = storedPrecondition(owned, engine);
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
    signal: stop.signal,
  };
  const over = beginAttempt(ref.id, n, engine);

  flight.sent = true;
  owned.fires += 1;
  if (isResend) engine.budgets.take(tool.service);
  const { around, run } = surrounding();
  const { generation } = owned.stored.record;
  engine.events.emit("attempt", () => ({
    ...about(operation, generation),
    attempt: n,
    licence,
    around,
  }));
  const fire = async () => resultOf(await tool.run(args, context));
  const running = run(() =>
    runInFrame(frame, () => runWithToken(token, () => enterOperation(ref.id, fire))),
  ).then(
    (result): Ended => ({ ok: true, ...result }),
    (error: unknown): Ended => ({ ok: false, error }),
  );
  const inTime = await within(engine.clock, timeoutMs, running);
  flight.stopped.removeEventListener("abort", giveUp);
  const attempted = { n, startedAt, token, frame, took };
  if (inTime.tag === "done") {
    // What `run` left behind must not send any more.
    stop.abort();
    over();
    return { ...attempted, ended: inTime.value };
  }
  stop.abort();
  keepSaying(owned, n, running, engine);
  inBackground(engine, async () => {
    const ended = await running;
    over();
    await fileLate(owned, { ...attempted, ended }, engine);
  });
  return { ...attempted, ended: undefined };
}

/** The durable note comes first; the claim itself is the note of the first attempt. */
async function mayStart(
  owned: Owned,
  licence: NonNullable<Owned["licence"]>,
  timeoutMs: number,
  engine: Engine,
): Promise<boolean> {
  const { flight } = owned;
  if (!storedPrecondition(owned, engine).ok) owned.mayNotFire = "cannot_tell";
  const mayFire = () =>
    !flight.stopped.aborted &&
    flight.remainingMs() > 0 &&
    owned.mayNotFire === undefined &&
    !owned.attempts.some(({ verdict }) => verdict === "committed");
  if (!owned.noted && !(mayFire() && (await note(owned, licence, engine)))) return false;
  owned.noted = false;
  const covered = mayFire() && (await leaseCovers(owned, timeoutMs, engine));
  // The host may have slept since the licence was given; the store's answer has set the clock right.
  const tooLate = licence === "keyed" && !mayStillResend(situationOf(owned, engine));
  if (covered && mayFire() && !tooLate) return true;
  if (mayFire() && !covered) owned.mayNotFire = "lease_lost";
  forget(owned, owned.stored.record.fired);
  return false;
}

async function note(
  owned: Owned,
  licence: NonNullable<Owned["licence"]>,
  engine: Engine,
): Promise<boolean> {
  const { epoch, leaseMs, stored } = owned;
  const { tool } = owned.operation;
  const grantedAt = { monotonic: engine.clock.monotonic(), wall: engine.clock.now() };
  const at = engine.ledger.clock.earliest();
  const endings = endingsOf(owned);
  const noting = engine.ledger.move(
    owned.operation.ref,
    { move: "note", epoch, licence, endings, declared: declaredBy(tool, engine), leaseMs, at },
    stored,
  );
  const inTime = await within(engine.clock, engine.timing.storeTimeoutMs, noting);
  if (inTime.tag !== "done") {
    // It may have been written all the same.
    forget(owned, stored.record.fired + 1);
    owned.mayNotFire = "store_down";
    return false;
  }
  const moved = inTime.value;
  if (moved.tag !== "moved" || !moved.stored) {
    // Somebody knows of a commit: the settle that follows will find it.
    if (moved.tag === "refused" && moved.why === "evidence") owned.mayNotFire = "stopped";
    // What the licence rests on has changed: the next pass decides on what is so now.
    else if (moved.tag === "refused" && moved.why === "changed") relearn(owned, moved.stored);
    else loseLease(owned, engine);
    return false;
  }
  owned.grantedAt = grantedAt;
  remember(owned, moved.stored);
  const added = moved.stored.record.attempts.at(-1);
  if (added) owned.attempts = [...owned.attempts, added];
  return true;
}

async function resultOf(value: unknown): Promise<Result> {
  if (!isResponse(value)) return { value };
  const { response, kept } = await bufferResponse(value);
  return { value: response, kept };
}

/** What was fixed in the claim; an attempt that cannot read it must not go out without it. */
function storedPrecondition(
  { stored: { record } }: Owned,
  { codec }: Engine,
): { readonly ok: boolean; readonly value: Json | undefined } {
  if (!record.precondition) return { ok: true, value: undefined };
  const decoded = codec.decode(record.precondition, record);
  return decoded.ok ? { ok: true, value: decoded.value as Json } : { ok: false, value: undefined };
}
