/**
 * Checks a reader before its *absent* counts. A process with the wrong account finds nothing, and every
 * lost reply would look like an absence. So the reader is first asked about commits that are known.
 *
 * @module
 */

import type { Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import { about } from "../engine/operation/operation.ts";
import { askReader } from "../engine/reader.ts";
import { askStore } from "../engine/store-call.ts";
import { recallSettled } from "./recall-operation.ts";

const DAY_MS = 24 * 3_600_000;
/** One effect may have been deleted since; it is unlikely that all of them were. */
const ASKED = 3;

/** Checks each tool once. A reader that finds none of the known commits loses the `absent` licence. */
export function createReaderCheck(engine: Engine): (tool: Tool) => Promise<void> {
  const checks = new Map<string, Promise<void>>();
  return (tool) => {
    const { readState, commitsWithinMs, learned } = tool;
    if (!readState || commitsWithinMs === undefined || learned.readerChecked) {
      return Promise.resolve();
    }
    const checking = checks.get(tool.name) ?? check(tool, engine);
    checks.set(tool.name, checking);
    return checking;
  };
}

async function check(tool: Tool, engine: Engine): Promise<void> {
  const { ledger, tenant } = engine;
  const now = ledger.clock.earliest();
  const query = {
    tenant,
    states: ["committed"],
    tool: tool.name,
    since: now - DAY_MS,
    // A reader may lag by as much as the tool declares.
    until: now - (tool.commitsWithinMs ?? 0),
    limit: ASKED,
  } as const;
  const { items } = await askStore(engine, "list", ledger.store.list(query));
  let missed: ReturnType<typeof recallSettled> | undefined;
  for (const { record } of items) {
    const operation = recallSettled(record, tool, () => {});
    const reading = await askReader(operation, record, tool.readTimeoutMs, engine, false);
    if (reading.reading === "cannot_tell") continue;
    if (reading.reading !== "absent") {
      tool.learned.readerChecked = true;
      return;
    }
    missed = operation;
  }
  if (!missed) return;
  tool.learned.readerChecked = true;
  tool.learned.readerBlind = true;
  const operation = missed;
  engine.events.emit("warning", () => ({ ...about(operation), code: "reader_blind" }));
}
