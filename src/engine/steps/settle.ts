/**
 * Step 5: read state → **settle**. Writes the outcome down, then tells it.
 *
 * A store that is down does not change what happened: the caller gets the true outcome, flagged, and
 * the write is tried again while the process lives.
 *
 * @module
 */

import { LeaseLostError } from "../../errors.ts";
import { within } from "../../lang/time-limit.ts";
import type { Moved } from "../../ledger/ledger.ts";
import type { Move } from "../../ledger/moves.ts";
import type { State } from "../../ledger/record.ts";
import { about, factsOf } from "../call/operation.ts";
import { dedupesOf, type Engine, inBackground } from "../engine.ts";
import { PassEnded } from "../loops/repeat.ts";
import { commitResult } from "../outcome/commit-result.ts";
import { payloadOf, worldOf } from "../outcome/kept-result.ts";
import type { Outcome } from "../outcome/outcome.ts";
import { hintFor, outcomeOf } from "../outcome/replay.ts";
import { fileEvidence } from "./late-reply.ts";
import type { Final } from "./next-move.ts";
import { endingsOf, type Owned, type Result, relearn } from "./ownership.ts";
import { checkReaderOnce } from "./reader-check.ts";
import { restore } from "./restore.ts";

type Settled = Extract<State, { tag: "committed" | "not_applied" | "unknown" }>;

export async function settle(
  owned: Owned,
  final: Final,
  engine: Engine,
): Promise<Outcome<unknown>> {
  // From here on a late reply goes to the ledger: nobody reads this process's memory any more.
  owned.active = false;
  const { operation, epoch, stored } = owned;
  const result =
    final.do === "commit" ? await commitResult(owned, final.attempt, engine) : undefined;
  const state = await stateFor(owned, final, result, engine);
  const at = engine.ledger.clock.latest();
  const dedupes = dedupesOf(operation.tool);
  const move: Move = { move: "settle", epoch, state, endings: endingsOf(owned), dedupes, at };
  const settling = engine.ledger.move(operation.ref, move, stored);
  if (engine.enlisted && state.tag === "committed") await mustJoin(owned, settling);
  const inTime = await within(engine.clock, engine.timing.storeTimeoutMs, settling);
  if (inTime.tag !== "done") {
    engine.events.emit("store", () => ({ ...about(operation), status: "unrecorded" }));
    inBackground(engine, async () => {
      const moved = await engine.persist(() => engine.ledger.move(operation.ref, move));
      if (moved === "closed") return;
      await afterwards(owned, moved, state, engine);
      engine.events.emit("store", () => ({ ...about(operation), status: "recorded" }));
    });
    return tell(owned, state, result, at, false, engine);
  }
  const moved = inTime.value;
  if (moved.tag === "refused" && moved.why === "changed") {
    relearn(owned, moved.stored);
    owned.active = true;
    throw new PassEnded(0);
  }
  if (result && final.do === "commit") keepResult(owned, final.attempt, result);
  const filing = afterwards(owned, moved, state, engine);
  inBackground(engine, () => filing);
  // What is known is told, also while the ledger cannot be told.
  const done = await within(engine.clock, engine.timing.storeTimeoutMs, filing);
  const written = done.tag === "done" ? done.value : undefined;
  if (written === state || state.tag === "committed") {
    const filed = done.tag === "done" && moved.tag === "refused" && moved.why !== "absent";
    return tell(owned, state, result, at, written === state || filed, engine);
  }
  const known = moved.tag === "lane" ? undefined : moved.stored;
  return { ...(await outcomeOf(operation, known, engine)), replayed: false };
}

/** Without its record the effect must not commit: the error is what rolls the transaction back. */
async function mustJoin({ operation }: Owned, settling: Promise<Moved>): Promise<void> {
  const moved = await settling.catch(() => undefined);
  if (moved?.tag !== "moved") throw new LeaseLostError(factsOf(operation));
}

/** What the ledger says now. An owner without a say files what it saw. */
async function afterwards(
  owned: Owned,
  moved: Moved,
  state: Settled,
  engine: Engine,
): Promise<State | undefined> {
  if (moved.tag === "moved") {
    if (state.tag === "committed" && state.via === "reply") checkReaderOnce(owned, engine);
    if (moved.report === "duplicate") {
      engine.events.emit("duplicate", () => ({ ...about(owned.operation), source: "late" }));
    }
    await fileOthers(owned, state, engine);
    const written = moved.stored?.record.state;
    return written?.tag === state.tag ? state : written;
  }
  if (moved.tag === "refused" && moved.why === "absent") return restore(owned, state, engine);
  const yes = state.tag === "committed" ? (state.attempt ?? owned.stored.record.fired) : undefined;
  for (const { n, epoch, verdict = "unknown" } of owned.attempts) {
    if (n === yes) await fileEvidence(owned, n, "committed", engine);
    else if (epoch === owned.epoch) await fileEvidence(owned, n, verdict, engine);
  }
  return undefined;
}

/** Another attempt of this flight was answered yes as well: the ledger compares the two. */
async function fileOthers(owned: Owned, state: Settled, engine: Engine): Promise<void> {
  if (state.tag !== "committed" || state.attempt === undefined) return;
  for (const { n, epoch, verdict } of owned.attempts) {
    const other = verdict === "committed" && epoch === owned.epoch && n !== state.attempt;
    if (other) await fileEvidence(owned, n, "committed", engine);
  }
}

/** Evidence of a commit carries its result, also when a reader found it. */
function keepResult(owned: Owned, attempt: number | undefined, result: Result): void {
  const n = attempt ?? owned.stored.record.fired;
  if (!owned.results.has(n)) owned.results.set(n, result);
}

async function stateFor(
  owned: Owned,
  final: Final,
  result: Result | undefined,
  engine: Engine,
): Promise<Settled> {
  const { operation } = owned;
  const { tool } = operation;
  if (final.do === "hold") {
    const yes = owned.attempts.findLast(({ unverified }) => unverified);
    const unverified = yes && owned.results.get(yes.n);
    const payload = unverified && payloadOf(operation, unverified, engine);
    return { tag: "unknown", reason: final.reason, payload };
  }
  if (final.do === "give_up") {
    const { reason } = final;
    const keyRejected = reason === "rejected" && isRejectionOfKey(owned);
    return { tag: "not_applied", reason, rejection: owned.rejection, keyRejected };
  }
  const { attempt } = final;
  const { effect, effectId } = worldOf(tool, result?.value);
  const found = owned.reading?.reading === "committed" ? owned.reading.effectId : undefined;
  return {
    tag: "committed",
    via: attempt === undefined ? "read" : "reply",
    attempt,
    payload: result ? payloadOf(operation, result, engine) : filedPayload(owned, attempt),
    // Found before anything was sent: somebody else did it.
    effect: owned.noted && owned.fires === 0 ? "noop" : effect,
    effectId: attempt === undefined ? (found ?? effectId) : await owning(owned, effectId, engine),
  };
}

/** The keyed service itself said no to this very key, and nothing else was ever in doubt under it. */
function isRejectionOfKey({ attempts, operation, stored }: Owned): boolean {
  const ofKey = attempts.filter(({ generation }) => generation === stored.record.generation);
  const last = ofKey.at(-1);
  return (
    operation.tool.keyedForMs !== undefined &&
    last?.status !== undefined &&
    last.status !== 412 &&
    last.wireRequests === 1 &&
    !ofKey.some(({ cleared }) => cleared === "absent")
  );
}

/** What somebody without a say saw of it, and filed. */
const filedPayload = ({ stored: { record } }: Owned, attempt: number | undefined) =>
  record.evidence.find((seen) => seen.verdict === "committed" && seen.attempt === attempt)?.payload;

/** Marks the effect as this operation's, so that no other reader takes it for its own. */
async function owning(
  { operation: { ref, tool } }: Owned,
  effectId: string | undefined,
  engine: Engine,
): Promise<string | undefined> {
  if (effectId === undefined) return undefined;
  const asked = engine.ledger.store.own(ref.tenant, tool.service, effectId, ref.id);
  const owner = await within(engine.clock, engine.timing.storeTimeoutMs, asked);
  return owner.tag === "done" && owner.value !== ref.id ? undefined : effectId;
}

/** The outcome of this very flight, with what the ledger does not keep. */
function tell(
  owned: Owned,
  state: Settled,
  result: Result | undefined,
  at: number,
  recorded: boolean,
  engine: Engine,
): Outcome<unknown> {
  const { operation, stored, attempts } = owned;
  const licence = attempts.at(-1)?.licence;
  const common = {
    ...factsOf(operation, stored.record.generation),
    replayed: false,
    recorded,
    attempts: stored.record.fired - (owned.unfired === stored.record.fired ? 1 : 0),
    wireRequests: attempts
      .filter(({ epoch }) => epoch === owned.epoch)
      .reduce((sum, attempt) => sum + (attempt.wireRequests ?? 0), 0),
    licence,
    at,
  };
  switch (state.tag) {
    case "committed": {
      engine.budgets.giveBack(operation.tool.service);
      const { via, effect, effectId } = state;
      return result
        ? { ...common, status: "committed", via, effect, effectId, result: result.value }
        : { ...common, status: "committed", via, effect, effectId, resultLost: true };
    }
    case "not_applied": {
      const { reason, rejection } = state;
      return { ...common, status: "not_applied", reason, rejection, error: owned.lastError };
    }
    case "unknown": {
      const { reason } = state;
      const hint = hintFor({ ...stored.record, attempts }, state);
      return { ...common, status: "unknown", reason, hint, error: owned.lastError };
    }
  }
}
