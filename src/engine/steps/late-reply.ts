/**
 * What is written down after the fact. A late reply is evidence: it decides where the execution still waits, and
 * is filed where it does not. A record that the store has lost is restored from what is known.
 *
 * @module
 */

import type { Move } from "../../ledger/moves/moves.ts";
import { endAttempts } from "../../ledger/moves/record-edits.ts";
import type { Ending, Verdict } from "../../ledger/record.ts";
import { claimMove, withdrawClaim } from "../claim-terms.ts";
import { recognisesRepeats } from "../define/tool.ts";
import { type Engine, inBackground } from "../engine.ts";
import { about } from "../operation/operation.ts";
import { effectOf, payloadOf } from "../outcome/result.ts";
import { endingsOf, type Owned, wakeOf } from "./ownership.ts";
import type { Settled } from "./settled-state.ts";

/** The `run` of an attempt whose time was up has settled after all, and was classified. */
export async function fileLateReply(owned: Owned, ending: Ending, engine: Engine): Promise<void> {
  const { n, verdict = "unknown" } = ending;
  if (owned.active) wakeOf(owned).abort();
  else await fileAttempt(owned, n, verdict, engine);
}

/** Writes down what an owner saw that no longer decides. */
export async function fileAttempt(
  owned: Owned,
  n: number,
  verdict: Verdict,
  engine: Engine,
): Promise<void> {
  const { operation, epoch } = owned;
  const { tool } = operation;
  const at = engine.ledger.clock.latest();
  const ending = endingsOf(owned).find((each) => each.n === n);
  const { status } = ending ?? {};
  const result = verdict === "committed" ? owned.results[n] : undefined;
  const payload = result && payloadOf(operation, result, engine);
  const { effect, effectId } = result ? effectOf(tool, result.value) : {};
  const evidence = { attempt: n, epoch, at, verdict, status, payload, effect, effectId };
  const move: Filing = {
    move: "file",
    evidence,
    madeAt: owned.stored.record.createdAt,
    ending: ending && { ...ending, verdict },
    dedupes: recognisesRepeats(tool),
    at,
  };
  // The store has lost the record: a commit is the one thing that must not go with it.
  if ((await file(owned, move, engine)) === "absent" && result) {
    await restore(owned, { tag: "committed", via: "late", payload, effect, effectId }, engine);
  }
}

type Filing = Extract<Move, { move: "file" }>;

async function file(owned: Owned, move: Filing, engine: Engine): Promise<"absent" | undefined> {
  const { operation, leaseMs } = owned;
  const filed = await engine.persist(() => engine.ledger.move(operation.ref, move));
  if (filed === "closed" || filed.tag === "lane") return undefined;
  if (filed.tag === "refused") return filed.why === "absent" ? "absent" : undefined;
  if (filed.report === "duplicate") {
    engine.events.emit("duplicate", () => ({ ...about(operation), source: "late" }));
  }
  // Its owner settles it, or is gone: then the commit is written when the lease has lapsed.
  const isOwned = filed.stored?.record.state.tag === "claimed";
  if (isOwned && move.evidence.verdict === "committed") {
    const again = () => inBackground(engine, () => file(owned, move, engine));
    engine.clock.after(leaseMs, () => engine.isClosed() || again(), true);
  }
  return undefined;
}

/** Writes down anew what is known of an operation whose record the store has lost; false if that failed. */
export async function restore(owned: Owned, state: Settled, engine: Engine): Promise<boolean> {
  const { operation, holder, leaseMs, stored } = owned;
  const at = engine.ledger.clock.latest();
  // An attempt that still runs stays so: it has no end but the one that was noted.
  const known = endAttempts(stored.record, endingsOf(owned));
  const claim = claimMove(operation.draft, { holder, leaseMs, suspect: { known }, at });
  const claimed = await engine.persist(() => engine.ledger.move(operation.ref, claim));
  if (claimed === "closed" || claimed.tag !== "moved" || !claimed.stored) return false;
  const { epoch, createdAt } = claimed.stored.record;
  // Another process has made it anew meanwhile: nothing but a yes holds for what that one has sent, too.
  if (state.tag !== "committed" && createdAt !== known.createdAt) {
    await withdrawClaim(operation, holder, engine);
    return false;
  }
  const move = { move: "settle", epoch, holder, state, endings: [], at } as const;
  const settled = await engine.persist(() => engine.ledger.move(operation.ref, move));
  return settled !== "closed" && settled.tag === "moved";
}
