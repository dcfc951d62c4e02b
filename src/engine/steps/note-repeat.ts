/**
 * Notes the ids and the run under which an operation was called again, for tracing and for drift; and that its
 * outcome is told, where it was open when it was told last.
 *
 * @module
 */

import { isOpen, type Stored } from "../../ledger/record.ts";
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
  const isNews = record.untold === true && !isOpen(record.state);
  if (!isNewRun && !isNews && aliases.every((alias) => record.aliases.includes(alias))) return;
  const noting = engine.ledger.move(ref, {
    move: "meet",
    told: record.state.tag,
    aliases,
    run,
  });
  inBackground(engine, () => noting);
  // Drift is judged by what this run has repeated, and a thread by what it was told: the next call must find it.
  if (isNewRun || isNews) await inStoreTime(engine, noting);
}
