/**
 * What a claim needs beyond its record: what the service will compare (ETag, version, unique name), which is read
 * once before the claim and sent unchanged with every attempt; its lane; its place in a thread; and, where the store has
 * lost data, the doubt that this leaves.
 *
 * @module
 */

import { canonicalize } from "../../../key/canonical.ts";
import { withTimeLimit } from "../../../lang/clock.ts";
import type { Payload } from "../../../ledger/codec/codec.ts";
import { isInLane } from "../../../ledger/lane.ts";
import type { Ref } from "../../../ledger/ledger.ts";
import type { Lost } from "../../../ledger/moves/moves.ts";
import { notedByClaim, type Stored } from "../../../ledger/record.ts";
import type { LaneChange } from "../../../ledger/store.ts";
import { wouldFire } from "../../claim-terms.ts";
import { declaredBy, type Tool } from "../../define/tool.ts";
import type { Engine } from "../../engine.ts";
import { about, type Execution, type Operation } from "../../operation/operation.ts";
import { askStore } from "../../store-call.ts";
import { hasPlace } from "../../thread.ts";
import { lostAttemptMsOf } from "./time-to-send.ts";

export type PreconditionRead =
  | { readonly tag: "read"; readonly precondition: Payload | undefined }
  /** Nothing can be sent without it. */
  | { readonly tag: "failed" | "late" | "stopped"; readonly error: unknown };

export async function readPrecondition(
  execution: Execution,
  precondition: NonNullable<Tool["precondition"]>,
  engine: Engine,
): Promise<PreconditionRead> {
  const { operation } = execution;
  const { tool, args, ref } = operation;
  const known = await askStore(engine, "read", engine.ledger.read(ref));
  // Only what is fired is sent with one that is read anew; else that of the first attempt stands.
  if (known && !wouldFire(known.record, operation, engine)) {
    return { tag: "read", precondition: undefined };
  }
  const timeoutMs = Math.min(tool.readTimeoutMs, Math.max(execution.remainingMs(), 0));
  const asked = execution.untilStopped(async () => precondition(args));
  const inTime = await withTimeLimit(engine.clock, timeoutMs, asked);
  const stopped = inTime.tag === "done" && inTime.value.tag === "stopped";
  if (stopped) return { tag: "stopped", error: undefined };
  if (inTime.tag === "done" && inTime.value.tag === "done") {
    const { text } = canonicalize(inTime.value.value, "precondition");
    return { tag: "read", precondition: engine.codec.encodeText(text, ref) };
  }
  const tag = inTime.tag === "failed" ? "failed" : "late";
  engine.events.emit("warning", () => ({
    ...about(operation),
    code: "reader_failed",
    which: "precondition",
    why: tag,
  }));
  return { tag, error: inTime.tag === "failed" ? inTime.error : undefined };
}

/** How often the lane is written again because others have joined its queue meanwhile. */
const MOST_TRIES = 16;

/** `place_taken`: another turn of the thread has the place of this one. */
export type WhyTakeBack = "try_again" | "place_taken";

/** Why a claim that is written is taken back, and nothing is sent: it lacks something for its attempt. */
export function whyTakeBack(
  operation: Operation,
  stored: Stored,
  lane: LaneChange | undefined,
  engine: Engine,
): WhyTakeBack | undefined | Promise<WhyTakeBack | undefined> {
  const { tool, inThread } = operation;
  const { record } = stored;
  const isFiredAnew = notedByClaim(record) !== undefined;
  // None was read, because by the record the claim would not have fired; the record has changed since, and it would.
  if (isFiredAnew && tool.precondition && !record.precondition) return "try_again";
  const isApart = lane !== undefined && engine.ledger.store.lanesApart === true;
  // What was open already has kept all others from firing.
  const keepsPlace = inThread === undefined || (record.epoch > 1 && !isFiredAnew);
  return isApart || !keepsPlace
    ? whyTakeBackInStore(operation, isApart ? lane : undefined, keepsPlace, engine)
    : undefined;
}

async function whyTakeBackInStore(
  operation: Operation,
  lane: LaneChange | undefined,
  keepsPlace: boolean,
  engine: Engine,
): Promise<WhyTakeBack | undefined> {
  if (lane && !(await confirmLane(operation.ref, lane.name, engine))) return "try_again";
  return keepsPlace || (await hasPlace(operation, engine)) ? undefined : "place_taken";
}

/**
 * Makes sure of a lane where it and the record are two moves. Between the two another process may have seen
 * a holder without a record, and have taken the lane. A write of the lane after the record shuts them
 * out: who looked before it finds the lane changed, who looks after it finds the record.
 */
async function confirmLane({ tenant, id }: Ref, name: string, engine: Engine): Promise<boolean> {
  const { ledger } = engine;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const found = await askStore(engine, "lane", ledger.readLane(tenant, name));
    if (!found || !isInLane(found.lane, id)) return false;
    const same = { name, expect: found.version, lane: found.lane };
    if (await askStore(engine, "lane", ledger.changeLane(tenant, same))) return true;
  }
  return false;
}

/** What the store may have lost, unless the caller vouches that there was nothing. */
export function lostBefore({ fresh, tool }: Operation, engine: Engine): Lost | undefined {
  const suspicion = engine.ledger.suspicion();
  if (!suspicion || fresh) return undefined;
  const all = declaredBy(tool, engine.enlisted);
  // What the lost attempt has sent is lost with it, unless it was in the arguments.
  const declared = tool.precondition ? { ...all, conditional: undefined } : all;
  return { since: suspicion.since, sendsForMs: lostAttemptMsOf(tool, engine), declared };
}
