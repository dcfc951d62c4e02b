/**
 * Drift: a call that differs from an earlier one of the same scope, and may be meant to be the same. A model that starts over
 * and rewords its request would do twice what was wanted once. (`hf.driftReport` is another drift: ledger against service.)
 *
 * @module
 */

import { wouldFire } from "../engine/claim-terms.ts";
import type { Engine } from "../engine/engine.ts";
import type { Execution, Operation } from "../engine/operation/operation.ts";
import { askStore, listEveryRecord } from "../engine/store-call.ts";
import type { Json } from "../key/json.ts";
import type { Ask } from "../ledger/moves/approval-question.ts";
import type { OperationRecord, StateTag, Stored } from "../ledger/record.ts";
import type { SiblingWrites } from "./sibling-writes.ts";
import type { ToldOpen } from "./told-open.ts";

/** From which operation a call drifts, and how. */
export interface Drift {
  readonly from: string;
  readonly why:
    | "unsettled" // the earlier one is open: on the same resource, or told to the model that calls
    | "committed_since" // the model was told that the earlier one is open, and it was done
    | "earlier_run" // done in an earlier run of the scope, and not repeated in this one
    | "version"; // another version of the tool has left something open in this scope
  /** The earlier one's intent; `undefined` once it is settled, or if it cannot be read here. */
  readonly intent?: Json | undefined;
  /** When it came to be what it is, in milliseconds on the ledger's clock. */
  readonly at: number;
}

/** The operations that a call is compared with. */
export interface Compared {
  readonly siblings: SiblingWrites;
  readonly toldOpen: ToldOpen;
}

const OPEN: readonly StateTag[] = ["held", "claimed", "unknown"];
/** So many pages of what is open in a tenant are looked through for another version. */
const MOST_PAGES = 10;

/** `passed` are those in whose place a person lets it pass. */
export async function findDrift(
  execution: Execution,
  { siblings, toldOpen }: Compared,
  passed: ReadonlyMap<string, unknown>,
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
    other && !passed.has(other.record.id) && howItDrifts(other, operation, undefined, engine)
      ? howItDrifts(other, operation, await mine(), engine)
      : undefined;
  const judgeTold = (other: Stored) =>
    passed.has(other.record.id) ? undefined : howItWasTold(other, engine);

  const drift =
    (await siblings.firstOf(operation, judge, engine)) ??
    (await toldOpen.firstOf(operation, judgeTold, engine)) ??
    (await firstReworded(operation, judgeTold, engine)) ??
    (await otherVersion(operation, passed, engine));
  // What is settled is replayed and what is open is read, whatever else was done.
  return drift && (await fires()) ? drift : undefined;
}

/** Of those that the caller itself compares the call with. */
async function firstReworded(
  { ref, tool }: Operation,
  judge: (other: Stored) => Drift | undefined,
  engine: Engine,
): Promise<Drift | undefined> {
  for (const id of tool.mayReword) {
    const other = await askStore(engine, "drift", engine.ledger.read({ tenant: ref.tenant, id }));
    const drift = other && id !== ref.id ? judge(other) : undefined;
    if (drift) return drift;
  }
  return undefined;
}

/** Of one that a model was told of as open: whether it must be shown before the model words its wish anew. */
function howItWasTold(other: Stored, engine: Engine): Drift | undefined {
  const { state, untold, abandonedFor } = other.record;
  if (abandonedFor !== undefined) return undefined;
  if (state.tag === "claimed" || state.tag === "unknown")
    return driftFrom(other, "unsettled", engine);
  return state.tag === "committed" && untold
    ? driftFrom(other, "committed_since", engine)
    : undefined;
}

/** Of one that was open when a person let another pass in its place. */
export const doneSince = (other: Stored, engine: Engine): Drift | undefined =>
  other.record.state.tag === "committed" ? driftFrom(other, "committed_since", engine) : undefined;

function driftFrom({ record }: Stored, why: Drift["why"], { codec }: Engine): Drift {
  const decoded = record.intent && codec.decode(record.intent, record);
  const intent = decoded?.ok ? (decoded.value as Json) : undefined;
  return { from: record.id, why, intent, at: record.stateAt };
}

function howItDrifts(
  other: Stored,
  { draft }: Operation,
  mine: OperationRecord | undefined,
  engine: Engine,
): Drift | undefined {
  const { record, leaseUntil } = other;
  const { state, runs, abandonedFor } = record;
  const { run } = draft.identity;
  if (abandonedFor !== undefined) return undefined;
  const isLive = (leaseUntil ?? 0) > engine.ledger.clock.earliest();
  const inThisRun = run === undefined || runs.includes(run);
  switch (state.tag) {
    case "not_applied":
    case "denied":
      return undefined;
    case "committed": {
      // Both were made in one run before: several writes, as they were then.
      const together = mine?.runs.some((each) => runs.includes(each));
      return inThisRun || together ? undefined : driftFrom(other, "earlier_run", engine);
    }
    case "claimed":
      // Under way, in this very run: the lane keeps them apart.
      return isLive && inThisRun ? undefined : driftFrom(other, "unsettled", engine);
    default:
      return driftFrom(other, "unsettled", engine);
  }
}

async function otherVersion(
  { tool, ref, scope }: Operation,
  passed: ReadonlyMap<string, unknown>,
  engine: Engine,
): Promise<Drift | undefined> {
  if (tool.version === undefined) return undefined;
  const query = { scope, tool: tool.name, states: OPEN };
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const found = await listEveryRecord(engine, { ...query, cursor }, "drift");
    const other = found.items.find(
      ({ record: { id, app, version } }) =>
        version !== tool.version && app === engine.app && id !== ref.id && !passed.has(id),
    );
    if (other) return driftFrom(other, "version", engine);
    if (found.cursor === undefined) return undefined;
    cursor = found.cursor;
  }
  return undefined;
}

/** A yes gives up what is open, and that alone: of another one, or of more that is known, a person is asked anew. */
export const replacedBy = ({ from, why }: Drift): string | undefined =>
  why === "unsettled" || why === "committed_since" ? `${why}:${from}` : undefined;

/** The id in what `replacedBy` made. */
export const replacedIn = ({ insteadOf }: Pick<Ask, "insteadOf">): string | undefined =>
  insteadOf?.slice(insteadOf.indexOf(":") + 1);
