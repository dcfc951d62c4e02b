/**
 * Notes the ids and the run under which an operation was called again, for tracing and for drift.
 *
 * @module
 */

import type { Stored } from "../../ledger/record.ts";
import { type Engine, inBackground } from "../engine.ts";
import type { Operation } from "../operation/operation.ts";
import { inStoreTime } from "../store-call.ts";

export async function noteRepeat(
  { ref, draft }: Operation,
  { record }: Stored,
  engine: Engine,
): Promise<void> {
  const { aliases, identity } = draft;
  const { run, resource } = identity;
  const isNewRun = resource !== undefined && run !== undefined && !record.runs.includes(run);
  if (!isNewRun && aliases.every((alias) => record.aliases.includes(alias))) return;
  const noting = engine.ledger.move(ref, { move: "meet", aliases, run });
  inBackground(engine, () => noting);
  // Drift is judged by what this run has repeated: its next call must find it.
  if (isNewRun) await inStoreTime(engine, noting);
}
