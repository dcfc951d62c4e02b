/**
 * What `decide.ts` is asked about: what is known of an operation that is owned, and what its tool declares, as plain
 * data.
 *
 * @module
 */

import { NOT_STORED_UNDER_KEY } from "../../../classify/http.ts";
import type { AttemptNote } from "../../../ledger/record.ts";
import type { Tool } from "../../define/tool.ts";
import type { Engine } from "../../engine.ts";
import type { Powers, Situation } from "./decide.ts";
import type { Owned } from "./ownership.ts";
import { attemptsNow, awaitsRun } from "./still-running.ts";

export function situationOf(owned: Owned, engine: Engine): Situation {
  const { operation, stored, execution } = owned;
  const { tool } = operation;
  return {
    powers: powersOf(tool),
    attempts: attemptsNow(owned, engine),
    epoch: owned.epoch,
    generation: stored.record.generation,
    lastRead: owned.lastRead,
    now: engine.ledger.clock.latest(),
    wall: engine.clock.now(),
    firesLeft: owned.isRepeatedElsewhere ? 0 : (engine.enlisted ? 1 : tool.attempts) - owned.fires,
    failedUntried: owned.failedUntried,
    awaitsRun: awaitsRun(owned, engine),
    sameArguments: stored.record.argsHash === operation.draft.argsHash,
    whyNotFire: owned.whyNotFire ?? (execution.stopped.aborted ? "stopped" : undefined),
    keySpent: isKeySpent(owned.attempts, stored.record.generation),
    fireMode: execution.fireMode,
  };
}

const powersOf = (tool: Tool): Powers => ({
  keyedForMs: tool.keyedForMs,
  conditional: tool.conditional,
  precondition: tool.precondition ? "read" : "given",
  reader: tool.readState !== undefined,
  commitsWithinMs: tool.commitsWithinMs,
  readerBlind: tool.learned.readerBlind,
  keyUnused: tool.learned.keyUnused,
  attemptTimeoutMs: tool.attemptTimeoutMs,
});

/** The service gave the same failure to the same key again: it will go on doing so. */
function isKeySpent(attempts: readonly AttemptNote[], generation: number): boolean {
  if (attempts.length < 2 && !attempts[0]?.replayed) return false;
  const seen = new Set<number>();
  return attempts.some(({ verdict, status, replayed, ...attempt }) => {
    if (verdict !== "unknown" || status === undefined || status < 300) return false;
    if (attempt.generation !== generation) return false;
    if (replayed) return true;
    if (NOT_STORED_UNDER_KEY.has(status)) return false;
    if (seen.has(status)) return true;
    seen.add(status);
    return false;
  });
}
