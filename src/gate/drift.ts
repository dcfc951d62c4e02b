/**
 * Drift: a call that is not what an earlier one of the same scope was, where it should perhaps have
 * been. A model that starts over and words its wish anew would do twice what was wanted once.
 *
 * @module
 */

import { wouldFire } from "../engine/claim-terms.ts";
import type { Engine } from "../engine/engine.ts";
import type { Execution, Operation } from "../engine/operation/operation.ts";
import { askStore } from "../engine/store-call.ts";
import type { OperationRecord, StateTag, Stored } from "../ledger/record.ts";
import type { SiblingWrites } from "./sibling-writes.ts";

/** From which operation a call drifts, and how. */
export interface Drift {
  readonly from: string;
  readonly why:
    | "unsettled" // another intent on the same resource, and the earlier one is open
    | "earlier_run" // done in an earlier run of the scope, and not repeated in this one
    | "version"; // another version of the tool has left something open in this scope
}

const OPEN: readonly StateTag[] = ["held", "queued", "claimed", "unknown"];
/** So many pages of what is open in a tenant are looked through for another version. */
const MOST_PAGES = 10;

export async function findDrift(
  execution: Execution,
  siblings: SiblingWrites,
  engine: Engine,
): Promise<Drift | undefined> {
  const { operation } = execution;
  const { tool, scope, ref } = operation;
  if (tool.onDrift === "allow" || scope === "") return undefined;
  // Read at most once, and only when there is something to compare it with.
  let reading: Promise<Stored | undefined> | undefined;
  const mine = async () => {
    reading ??= askStore(engine, "drift", engine.ledger.read(ref));
    return (await reading)?.record;
  };
  const fires = async () => {
    const record = await mine();
    return !record || wouldFire(record, operation, engine);
  };
  const judge = async (other: Stored | undefined) =>
    other && howItDrifts(other, operation, undefined, engine)
      ? howItDrifts(other, operation, await mine(), engine)
      : undefined;

  const drift =
    (await siblings.firstOf(operation, judge, engine)) ?? (await otherVersion(operation, engine));
  // What is settled is replayed and what is open is read, whatever else was done.
  return drift && (await fires()) ? drift : undefined;
}

function howItDrifts(
  { record, leaseUntil }: Stored,
  { draft }: Operation,
  mine: OperationRecord | undefined,
  engine: Engine,
): Drift | undefined {
  const { id, state, runs } = record;
  const { run } = draft.identity;
  const isLive = (leaseUntil ?? 0) > engine.ledger.clock.earliest();
  const inThisRun = run === undefined || runs.includes(run);
  switch (state.tag) {
    case "not_applied":
    case "denied":
      return undefined;
    case "committed": {
      // Both were made in one run before: several writes, as they were then.
      const together = mine?.runs.some((each) => runs.includes(each));
      return inThisRun || together ? undefined : { from: id, why: "earlier_run" };
    }
    case "claimed":
      // Under way, in this very run: the lane keeps them apart.
      return isLive && inThisRun ? undefined : { from: id, why: "unsettled" };
    default:
      return { from: id, why: "unsettled" };
  }
}

async function otherVersion(
  { tool, ref, scope }: Operation,
  engine: Engine,
): Promise<Drift | undefined> {
  if (tool.version === undefined) return undefined;
  const { store } = engine.ledger;
  const query = { tenant: ref.tenant, scope, tool: tool.name, states: OPEN };
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found = await askStore(engine, "drift", store.list({ ...query, cursor }));
    const other = found.items.find(
      ({ record }) => record.version !== tool.version && record.id !== ref.id,
    );
    if (other) return { from: other.record.id, why: "version" };
    if (found.cursor === undefined) return undefined;
    cursor = found.cursor;
  }
  return undefined;
}
