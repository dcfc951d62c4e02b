/**
 * Whether a claim has all that an attempt needs: what the service is to compare, and its lane.
 *
 * @module
 */

import { isInLane } from "../../ledger/lane.ts";
import type { Ref } from "../../ledger/ledger.ts";
import type { Stored } from "../../ledger/record.ts";
import type { LaneChange } from "../../ledger/store.ts";
import { type Engine, inBackground } from "../engine.ts";
import type { Operation } from "../operation/operation.ts";
import { askStore } from "../store-call.ts";

/** Others join the queue meanwhile; nobody is that popular. */
const MOST_TRIES = 16;

/** If not, the claim has been taken back, and nothing was sent. */
export async function isClaimComplete(
  { ref, tool }: Operation,
  stored: Stored | undefined,
  lane: LaneChange | undefined,
  takeBack: () => Promise<unknown>,
  engine: Engine,
): Promise<boolean> {
  const fires = stored?.record.attempts.at(-1)?.epoch === stored?.record.epoch;
  // It was read as known when the precondition was, and is to be fired anew.
  const isBare = fires && tool.precondition !== undefined && !stored?.record.precondition;
  try {
    if (!isBare && !lane) return true;
    if (!isBare && !engine.ledger.store.lanesApart) return true;
    if (!isBare && lane && (await confirmLane(ref, lane.name, engine))) return true;
  } catch (error) {
    inBackground(engine, takeBack);
    throw error;
  }
  await takeBack();
  return false;
}

/**
 * Makes sure of a lane where it and the record are two moves. Between the two somebody may have seen
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
