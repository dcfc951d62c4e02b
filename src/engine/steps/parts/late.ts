/**
 * What comes late, and is written down after the fact.
 *
 * A late reply is evidence: it decides where the execution still waits, and is filed where it does not. A late request, a
 * write that left after its attempt had ended, takes a certainty back; so does a way out that cannot be stopped. Both
 * are told to the ledger, and an owner that still decides hears of them there. What a late reply does is proved in `test/scenarios/late-reply.test.ts`.
 *
 * @module
 */

import type { Move } from "../../../ledger/moves/moves.ts";
import type { AttemptUpdate } from "../../../ledger/record.ts";
import type { Verdict } from "../../../reasons.ts";
import type { WriteTerms } from "../../../wire/token.ts";
import { effectOf } from "../../define/effect.ts";
import { recognisesRepeats } from "../../define/tool.ts";
import { type Engine, inBackground } from "../../engine.ts";
import { about, type Operation } from "../../operation/operation.ts";
import { payloadOf } from "../../outcome/result.ts";
import { type Owned, resultOf, updatesOf, wakeOf } from "./ownership.ts";
import { restore } from "./restore.ts";
import { lateWriteMsOf } from "./time-to-send.ts";

/** The `run` of an attempt whose time was up has settled after all, and was classified. */
export async function fileLateReply(
  owned: Owned,
  update: AttemptUpdate,
  engine: Engine,
): Promise<void> {
  const { n, verdict = "unknown" } = update;
  if (owned.active) wakeOf(owned).abort();
  else await fileAttempt(owned, n, verdict, engine);
}

/** A store that keeps none of what it acknowledges would be asked for ever. */
const MOST_RESTORES = 2;

/** Writes down what an owner saw that no longer decides, and says whether it is on record. `found`: by a read. */
export async function fileAttempt(
  owned: Owned,
  n: number,
  verdict: Verdict,
  engine: Engine,
  found?: true,
): Promise<boolean> {
  const { operation, epoch } = owned;
  const { tool } = operation;
  const at = engine.ledger.clock.latest();
  const update = updatesOf(owned).find((each) => each.n === n);
  const { status } = update ?? {};
  const result = verdict === "committed" ? resultOf(owned, n) : undefined;
  const payload = result && payloadOf(operation, result, engine);
  const { effect, effectId } = result ? effectOf(tool, result.value) : {};
  const evidence = { attempt: n, epoch, at, verdict, found, status, payload, effect, effectId };
  const move: Filing = {
    move: "file",
    evidence,
    madeAt: owned.stored.record.createdAt,
    // What a read found is no answer to this attempt.
    update: found ? update : update && { ...update, verdict },
    note: owned.attempts.find((each) => each.n === n),
    dedupes: recognisesRepeats(tool),
    fingerprint: operation.draft.identity.fingerprint,
    at,
  };
  const via = found ? "read" : "late";
  for (let restores = 0; ; restores += 1) {
    const filed = await file(owned, move, engine);
    if (filed !== "absent" || !result || restores === MOST_RESTORES) return filed === "filed";
    // The store has lost the record: a commit is the one thing that must not go with it.
    const state = { tag: "committed", via, payload, effect, effectId } as const;
    if (await restore(owned, state, engine)) return true;
    // Another process has claimed it anew meanwhile: the commit is filed there.
  }
}

type Filing = Extract<Move, { move: "file" }>;

async function file(
  owned: Owned,
  move: Filing,
  engine: Engine,
): Promise<"filed" | "absent" | "refused"> {
  const { operation, leaseMs } = owned;
  const filed = await engine.persist(() => engine.ledger.move(operation.ref, move));
  if (filed === "closed") return "refused";
  if (filed.tag === "refused") {
    if (filed.why === "absent") return "absent";
    if (move.evidence.verdict === "committed") {
      engine.events.emit("store", () => ({ ...about(operation), status: "unrecorded" }));
    }
    return "refused";
  }
  if (filed.report === "duplicate") {
    engine.events.emit("duplicate", () => ({ ...about(operation), source: "late" }));
  }
  // Its owner settles it, or is gone: then the commit is written when the lease has lapsed.
  const isOwned = filed.stored?.record.state.tag === "claimed";
  if (isOwned && move.evidence.verdict === "committed") {
    const again = () => inBackground(engine, () => file(owned, move, engine));
    engine.clock.after(leaseMs, () => engine.isClosed() || again(), true);
  }
  return "filed";
}

/** What holds for the requests of an attempt, while it runs and after its end. It keeps nothing else of the attempt. */
export const sharedTerms = (
  operation: Operation,
  n: number,
  engine: Engine,
): Omit<WriteTerms, "mayStillSend"> => ({
  ignores: operation.tool.ignores,
  onLate: () => doubtLate(operation, n, engine),
  onOtherWay: () => noteUnvetoable(operation, n, engine),
});

export const termsAfterEnd =
  (operation: Operation, n: number, engine: Engine): (() => WriteTerms) =>
  () => ({ ...sharedTerms(operation, n, engine), mayStillSend: () => false });

/** A request that may be this attempt's has left after its end: that nothing happened is not certain any more. */
function doubtLate(operation: Operation, n: number, engine: Engine): void {
  engine.events.emit("warning", () => ({ ...about(operation), code: "late_send", attempt: n }));
  const at = engine.ledger.clock.latest();
  const endsBy = at + lateWriteMsOf(operation.tool);
  const move = { move: "doubt", attempt: n, why: "late_send", endsBy, at } as const;
  inBackground(engine, () => engine.persist(() => engine.ledger.move(operation.ref, move)));
}

/** The attempt has opened a socket, or started a process or a thread, or a `fetch` that is not seen: what leaves there cannot be stopped. */
export function noteUnvetoable({ ref }: Operation, n: number, engine: Engine): void {
  const move = { move: "doubt", attempt: n, why: "unvetoable" } as const;
  inBackground(engine, () => engine.ledger.move(ref, move));
}
