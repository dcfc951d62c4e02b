/**
 * Step 6: next move → **settle**. Writes the outcome down, then tells it.
 *
 * A store that is down does not change what happened: the caller gets the true outcome, flagged, and
 * the write is tried again while the process lives.
 *
 * @module
 */

import { LeaseLostError } from "../../errors.ts";
import { type Instant, instantOf } from "../../lang/clock.ts";
import type { Moved } from "../../ledger/ledger.ts";
import type { Move } from "../../ledger/moves/moves.ts";
import { recognisesRepeats } from "../define/tool.ts";
import { type Engine, inBackground } from "../engine.ts";
import { about, factsOf, isOfIntent } from "../operation/operation.ts";
import type { Outcome } from "../operation/outcome.ts";
import { commonFrom, outcomeOf } from "../outcome/build.ts";
import { replay } from "../outcome/replay.ts";
import type { Result } from "../outcome/result.ts";
import type { Pass } from "../passes.ts";
import { checkReader } from "../reader.ts";
import { inStoreTime } from "../store-call.ts";
import type { Final } from "./next-move.ts";
import { fileAttempt } from "./parts/late.ts";
import { answerWhileOwned, mayBeTaken } from "./parts/lease.ts";
import { keepResult, type Owned, relearn, resultOf, updatesOf } from "./parts/ownership.ts";
import { restore } from "./parts/restore.ts";
import {
  missingResult,
  resultAtHand,
  type Settled,
  stateFor,
  withEffectAssigned,
} from "./parts/settled-state.ts";
import { waitForOwner } from "./parts/wait-for-change.ts";

/** The outcome; or another pass, at once, when the record has changed under the decision. */
export async function settle(
  owned: Owned,
  final: Final,
  engine: Engine,
): Promise<Pass<Outcome<unknown>>> {
  // From here on a late reply goes to the ledger: this execution decides nothing any more.
  owned.active = false;
  const { operation, epoch, holder, stored } = owned;
  const result =
    final.do === "commit"
      ? (resultAtHand(owned, final.attempt) ?? (await missingResult(owned, final.attempt, engine)))
      : undefined;
  const assigning = withEffectAssigned(owned, stateFor(owned, final, result, engine), engine);
  const state = assigning instanceof Promise ? await assigning : assigning;
  const now = instantOf(engine.clock);
  const at = engine.ledger.clock.latest(now);
  const dedupes = recognisesRepeats(operation.tool);
  const told = owned.execution.hasCaller();
  owned.execution.telling = told;
  const updates = updatesOf(owned);
  const move: Move = { move: "settle", epoch, holder, state, updates, dedupes, told, at };
  const doneAs = (recorded: boolean): Pass<Outcome<unknown>> => {
    if (state.tag === "committed") engine.budgets.reward(operation.tool.service);
    // The store did not answer. If the lease may be over, another owner may have fired it.
    const isUncertain = !recorded && state.tag === "not_applied" && mayBeTaken(owned, engine);
    const toTell: Settled = isUncertain ? { tag: "unknown", reason: "lease_lost" } : state;
    return { tag: "done", value: outcomeHere(owned, toTell, result, at, recorded, engine) };
  };
  // The transaction of a failed call must not be committed: the engine makes that impossible. If `run` has left a statement
  // running, this waits behind it; it comes before the next statement of the caller.
  const isUndone = engine.enlisted && owned.fires > 0 && state.tag !== "committed";
  const spoiling = isUndone ? engine.spoil() : undefined;
  const write = (asked?: Instant) =>
    engine.ledger.move(operation.ref, move, stored, undefined, asked);
  const inTurn = (asked?: Instant) => (spoiling ? spoiling.then(() => write()) : write(asked));
  const settling = inTurn(now);
  if (engine.enlisted && state.tag === "committed") await mustJoin(owned, settling, engine);
  const inTime = await (state.tag === "not_applied"
    ? answerWhileOwned(owned, settling, engine)
    : inStoreTime(engine, settling));
  if (inTime.tag !== "done") {
    settleLater(owned, () => inTurn(), state, engine);
    return doneAs(false);
  }
  const moved = inTime.value;
  if (moved.tag === "refused" && moved.why === "changed") {
    relearn(owned, moved.stored);
    owned.active = true;
    owned.execution.telling = false;
    return { tag: "wait", waitMs: 0 };
  }
  if (result && final.do === "commit") keepForEvidence(owned, final.attempt, result);
  if (isPlain(owned, moved, state)) {
    checkReaderAfter(owned, state, engine);
    return doneAs(true);
  }
  const filing = afterwards(owned, moved, state, engine);
  inBackground(engine, () => filing);
  // What is known is told, also while the ledger cannot be told.
  const done = await inStoreTime(engine, filing);
  if (done.tag === "done" && done.value === "as_meant") return doneAs(true);
  if (state.tag === "committed") {
    // It is written; or what an owner that lost the operation saw is on record as evidence.
    const isFiled = done.tag === "done" && done.value === "as_evidence";
    return doneAs(moved.tag === "moved" || isFiled);
  }
  // The record is read anew: what was filed may have changed it.
  const read = await inStoreTime(engine, engine.ledger.read(operation.ref));
  const found = moved.stored;
  const known = await waitForOwner(
    owned.execution,
    read.tag === "done" ? read.value : found,
    engine,
  );
  if (known && !isOfIntent(operation, known)) return doneAs(false);
  return { tag: "done", value: { ...(await replay(operation, known, engine)), replayed: false } };
}

/** Written as meant, and there is nothing else to file: the way of nearly every call. */
function isPlain({ fires }: Owned, moved: Moved, { tag }: Settled): boolean {
  if (moved.tag !== "moved" || moved.report === "duplicate" || fires > 1) return false;
  return moved.stored?.record.state.tag === tag;
}

function checkReaderAfter(owned: Owned, state: Settled, engine: Engine): void {
  const { operation, stored } = owned;
  // No reader need see what a transaction does before it is committed.
  if (engine.enlisted) return;
  if (state.tag === "committed" && state.via === "reply") {
    checkReader(operation, stored.record, state.effectId, engine);
  }
}

/** The store did not answer: the settle is tried again while the process lives. */
function settleLater(
  owned: Owned,
  write: () => Promise<Moved>,
  state: Settled,
  engine: Engine,
): void {
  const { operation } = owned;
  const { unrecorded } = engine;
  unrecorded.set(operation.ref.id, write);
  engine.events.emit("store", () => ({ ...about(operation), status: "unrecorded" }));
  inBackground(engine, async () => {
    const moved = await engine.persist(write);
    if (unrecorded.get(operation.ref.id) === write) unrecorded.delete(operation.ref.id);
    if (moved === "closed") return;
    await afterwards(owned, moved, state, engine);
    engine.events.emit("store", () => ({ ...about(operation), status: "recorded" }));
  });
}

/** Without its record the effect must not commit. */
async function mustJoin(
  { operation }: Owned,
  settling: Promise<Moved>,
  engine: Engine,
): Promise<void> {
  const moved = await settling.catch(() => undefined);
  if (moved?.tag === "moved") return;
  await engine.spoil();
  throw new LeaseLostError(factsOf(operation));
}

/** Whether the ledger says what was meant, or has a yes as evidence. An owner that has lost the operation files what it saw. */
async function afterwards(
  owned: Owned,
  moved: Moved,
  state: Settled,
  engine: Engine,
): Promise<"as_meant" | "as_evidence" | "otherwise"> {
  if (moved.tag === "moved") {
    checkReaderAfter(owned, state, engine);
    if (moved.report === "duplicate") {
      engine.events.emit("duplicate", () => ({ ...about(owned.operation), source: "late" }));
    }
    await fileOthers(owned, state, engine);
    return moved.stored?.record.state.tag === state.tag ? "as_meant" : "otherwise";
  }
  if (moved.tag === "refused" && moved.why === "absent") {
    // What was never fired leaves nothing to remember.
    if (owned.fires === 0 && state.tag === "not_applied") return "as_meant";
    if (await restore(owned, state, engine)) return "as_meant";
    // Another process has claimed it anew first: what this one saw is filed there.
  }
  const yes = state.tag === "committed" ? (state.attempt ?? owned.stored.record.fired) : undefined;
  const found = state.tag === "committed" && state.attempt === undefined ? true : undefined;
  let isFiled = false;
  for (const { n, epoch, verdict = "unknown" } of owned.attempts) {
    if (n === yes) isFiled = await fileAttempt(owned, n, "committed", engine, found);
    else if (epoch === owned.epoch) await fileAttempt(owned, n, verdict, engine);
  }
  return isFiled ? "as_evidence" : "otherwise";
}

/** Another attempt of this execution was answered yes as well: the ledger compares the two. */
async function fileOthers(owned: Owned, state: Settled, engine: Engine): Promise<void> {
  if (state.tag !== "committed" || state.attempt === undefined) return;
  for (const { n, epoch, verdict } of owned.attempts) {
    const other = verdict === "committed" && epoch === owned.epoch && n !== state.attempt;
    if (other) await fileAttempt(owned, n, "committed", engine);
  }
}

/** Evidence of a commit carries its result, also when a reader found it. */
function keepForEvidence(owned: Owned, attempt: number | undefined, result: Result): void {
  const n = attempt ?? owned.stored.record.fired;
  if (!resultOf(owned, n)) keepResult(owned, n, result);
}

/** The outcome of this very execution, with what the ledger does not keep. */
function outcomeHere(
  owned: Owned,
  state: Settled,
  result: Result | undefined,
  at: number,
  recorded: boolean,
  engine: Engine,
): Outcome<unknown> {
  const { operation, stored, attempts, lastError: error } = owned;
  const { record } = stored;
  const licence = attempts.at(-1)?.licence;
  let wireRequests = 0;
  for (const one of attempts) if (one.epoch === owned.epoch) wireRequests += one.wireRequests ?? 0;
  const common = commonFrom(factsOf(operation, record.generation), {
    recorded,
    attempts: record.fired - (owned.givenUp === record.fired ? 1 : 0),
    wireRequests,
    licence,
    at,
  });
  if (state.tag !== "committed") {
    return outcomeOf(common, state, { ...record, attempts }, engine, { error, stillRuns: true });
  }
  const { effect, via } = state;
  return outcomeOf(common, state, record, engine, { result, effect, via });
}
