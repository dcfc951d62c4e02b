/**
 * Step 3: attempt → **classify** → read state. Decides what one attempt proved, from its result, its requests and the
 * tool's `verify`; keeps it in `owned`, and emits `verdict` or `late` and the warnings.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import { type Ended, type JudgeFacts, judge } from "../../classify/classify.ts";
import type { Failure } from "../../classify/failure.ts";
import { isNotApplied } from "../../classify/not-applied.ts";
import { type Instant, instantOf } from "../../lang/clock.ts";
import type { AttemptUpdate } from "../../ledger/record.ts";
import { sightOf, wireFacts } from "../../wire/token.ts";
import { recognisesRepeats } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import { warnOfRepeats } from "../fire-once.ts";
import { judgeNested, type NestedJudgement } from "../operation/nesting.ts";
import { about } from "../operation/operation.ts";
import { failureIn, noteFailure } from "../outcome/failure.ts";
import type { Result } from "../outcome/result.ts";
import { isVerified } from "../reader.ts";
import type { Attempted } from "./attempt.ts";
import { rememberEnd } from "./parts/ended-here.ts";
import { keepResult, learn, type Owned } from "./parts/ownership.ts";
import { latestSince } from "./parts/time-to-send.ts";

/** At once where the time was up, or for a success without `verify`. A failure is looked into first, its body included. */
export function classifyAttempt(
  owned: Owned,
  attempted: Attempted,
  engine: Engine,
  /** `late`: its time was up before, and it has a verdict already. */
  event: "verdict" | "late" = "verdict",
): AttemptUpdate | Promise<AttemptUpdate> {
  const { n, token, ended } = attempted;
  const { tool } = owned.operation;
  if (token.counter) {
    const named = () => ({ ...about(owned.operation, owned.stored.record.generation), attempt: n });
    if (warnOfRepeats(token, named, engine)) owned.isRepeatedElsewhere = true;
  }
  if (!ended) return timeIsUp(owned, attempted, engine);
  const at = instantOf(engine.clock);
  const judged = judgeAttempt(owned, attempted, ended, at, engine);
  const judgedAttempt = { judged, ended, event, at };
  return judged.verdict === "committed" && !tool.verify
    ? takeVerdict(owned, attempted, judgedAttempt, {}, engine)
    : examine(owned, attempted, judgedAttempt, engine);
}

/** What an attempt proved by its answer and its requests alone. */
interface JudgedAttempt {
  readonly judged: NestedJudgement;
  readonly ended: Ended<Result>;
  readonly event: "verdict" | "late";
  /** When that was found; its answer, and its end, came before. */
  readonly at: Instant;
}

/** What was found out beside it. */
interface Examined {
  readonly unverified?: true | undefined;
  readonly failure?: Failure | undefined;
}

/** It may still land, so this says nothing of how it ended, or that it did. */
function timeIsUp(owned: Owned, attempted: Attempted, engine: Engine): AttemptUpdate {
  const update: AttemptUpdate = {
    n: attempted.n,
    verdict: "unknown",
    ...wireSeen(owned, attempted),
  };
  learn(owned, update);
  emitVerdict("verdict", owned, attempted, update, engine);
  return update;
}

/** What the wire and the context have seen of it. */
function wireSeen(owned: Owned, attempted: Attempted) {
  const { token, took } = attempted;
  const { wireRequests, unsent } = wireFacts(token);
  // Whether they were taken counts only where the service compares them.
  const compares = recognisesRepeats(owned.operation.tool);
  return {
    // Where no byte has left there is no reply to be lost.
    wireRequests: unsent ? 0 : wireRequests,
    tookKey: compares ? took.key : undefined,
    tookPrecondition: compares ? took.precondition : undefined,
    unvetoable: isUnvetoable(owned, attempted),
  };
}

async function examine(
  owned: Owned,
  attempted: Attempted,
  judgedAttempt: JudgedAttempt,
  engine: Engine,
): Promise<AttemptUpdate> {
  const { judged, ended } = judgedAttempt;
  const { operation } = owned;
  const isYes = judged.verdict === "committed";
  const isUnverified =
    isYes && ended.ok && !(await isVerified(operation, ended.value.value, engine));
  const failure = isYes
    ? undefined
    : await failureIn(ended, judged, attempted.token, operation, engine);
  const unverified = isUnverified || undefined;
  return takeVerdict(owned, attempted, judgedAttempt, { unverified, failure }, engine);
}

function takeVerdict(
  owned: Owned,
  attempted: Attempted,
  { judged, ended, event, at }: JudgedAttempt,
  { unverified, failure }: Examined,
  engine: Engine,
): AttemptUpdate {
  const { operation } = owned;
  const { n } = attempted;
  const { status } = judged;
  const { skew } = owned.attempts.find((attempt) => attempt.n === n) ?? {};
  const { wireRequests, tookKey, tookPrecondition, unvetoable } = wireSeen(owned, attempted);
  const update: AttemptUpdate = {
    n,
    wireRequests,
    tookKey,
    tookPrecondition,
    unvetoable,
    // Too early an end would make an absence proof too soon.
    endedAt: latestSince(skew, engine, at),
    verdict: unverified || judged.accepted ? "unknown" : judged.verdict,
    status,
    proven: (judged.verdict === "not_sent" && judged.proven) || undefined,
    failure: noteFailure(failure, operation.ref, engine.codec),
    replayed: judged.replayed,
    unverified,
    accepted: judged.accepted,
    innerOnly: judged.innerOnly,
  };
  takeIn(owned, update, judged, ended);
  const { commitsWithinMs } = operation.tool;
  if (update.verdict === "unknown" && commitsWithinMs !== undefined) {
    rememberEnd(operation.ref.id, n, commitsWithinMs, engine);
  }
  emitVerdict(event, owned, attempted, update, engine);
  if (judged.swallowed) {
    const { generation } = owned.stored.record;
    const named = { ...about(operation, generation), attempt: n };
    engine.events.emit("warning", () => ({ ...named, code: "swallowed_status", status }));
  }
  noticeKey(owned, update, engine);
  return update;
}

function emitVerdict(
  event: "verdict" | "late",
  { operation, stored }: Owned,
  { n, ended, startedAt }: Attempted,
  { verdict = "unknown", status, wireRequests = 0 }: AttemptUpdate,
  { events, clock }: Engine,
): void {
  if (!events.has(event)) return;
  const named = { ...about(operation, stored.record.generation), attempt: n, verdict };
  const durationMs = clock.monotonic() - startedAt;
  const error = ended && !ended.ok ? ended.error : undefined;
  const how = ended ? { status, error } : { timedOut: true };
  events.emit(event, () => ({ ...named, wireRequests, durationMs, ...how }));
}

/** Whether it has, or had, a way out that cannot be stopped. */
const isUnvetoable = ({ attempts }: Owned, { n, token }: Attempted): true | undefined =>
  token.others?.size || attempts.find((attempt) => attempt.n === n)?.unvetoable ? true : undefined;

function judgeAttempt(
  { operation }: Owned,
  { frame, token }: Attempted,
  ended: Ended<Result>,
  at: Instant,
  engine: Engine,
): NestedJudgement {
  const { tool } = operation;
  // The error ends the transaction, and with it whatever was done in it.
  if (engine.enlisted && !ended.ok && !isNotApplied(ended.error)) return { verdict: "not_sent" };
  const { wireRequests } = wireFacts(token);
  const answer = ended.ok && isResponse(ended.value.value) ? bodyOf(ended.value) : undefined;
  const judged = judge(ended.ok ? { ok: true, value: ended.value.value } : ended, {
    refuses: tool.refuses,
    accepts: tool.accepts,
    viaHttp: tool.viaHttp,
    sight: sightOf(token, tool.viaHttp),
    tried: wireRequests > 0,
    keyed: tool.keyedForMs !== undefined,
    reader: tool.readState !== undefined,
    classify: tool.classify,
    body: answer?.body,
    bodyBroken: answer?.bodyBroken,
    now: at.wall,
  });
  const requests = wireRequests + (token.others?.size ?? 0);
  const own = { requests, viaHttp: tool.viaHttp };
  return judgeNested(judged, frame, ended.ok ? undefined : ended.error, own);
}

/** What a returned Response said beside its status, where that matters. */
function bodyOf({ kept }: Result): Pick<JudgeFacts, "body" | "bodyBroken"> {
  if (!kept) return { bodyBroken: true };
  if (kept.status !== 400) return {};
  try {
    return { body: JSON.parse(kept.body) };
  } catch {
    return { bodyBroken: kept.contentType?.toLowerCase().includes("json") };
  }
}

/** What later steps of this execution need of it. */
function takeIn(
  owned: Owned,
  update: AttemptUpdate,
  judged: NestedJudgement,
  ended: Ended<Result>,
): void {
  learn(owned, update);
  owned.retryAfterMs = judged.retryAfterMs;
  if (ended.ok) keepResult(owned, update.n, ended.value);
  else owned.lastError = ended.error;
  const { status, code } = judged;
  owned.failedUntried = judged.untried === true;
  if (judged.verdict === "rejected") owned.rejection = { status, code };
}

/** A success without the key shows that this tool does not send it. */
function noticeKey(
  { operation }: Owned,
  { verdict, tookKey }: AttemptUpdate,
  engine: Engine,
): void {
  const { tool } = operation;
  if (tool.keyedForMs === undefined || tookKey !== false || verdict !== "committed") return;
  if (tool.learned.keyUnused) return;
  tool.learned.keyUnused = true;
  engine.events.emit("warning", () => ({ ...about(operation), code: "key_unused" }));
}
