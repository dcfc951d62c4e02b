/**
 * Notes that an operation was called again: under which ids, for tracing, and in which run, for drift. Where no
 * caller was told yet how it ended (`untold`), it also notes that one is told now.
 *
 * @module
 */

import { isOpen, type Stored } from "../../../ledger/record.ts";
import { type Engine, inBackground } from "../../engine.ts";
import type { Operation } from "../../operation/operation.ts";
import { inStoreTime } from "../../store-call.ts";

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
