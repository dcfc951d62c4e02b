/**
 * Checks a reader before its *absent* counts. A process with the wrong account finds nothing, and every
 * lost reply would look like an absence. So the reader is first asked about commits that are known.
 *
 * @module
 */

import type { Tool } from "../engine/define/tool.ts";
import type { Engine } from "../engine/engine.ts";
import type { Operation } from "../engine/operation/operation.ts";
import { askReader, markReaderBlind } from "../engine/reader.ts";
import { listRecords } from "../engine/store-call.ts";
import { recallSettled } from "./recall-operation.ts";

const DAY_MS = 24 * 3_600_000;
/** One effect may have been deleted since; it is unlikely that all of so many were. */
export const ENOUGH = 3;

/** Checks each tool once. A reader that finds none of the known commits loses the `absent` licence. */
export function createReaderCheck(engine: Engine): (tool: Tool) => Promise<unknown> {
  const checks = new Map<string, Promise<unknown>>();
  return (tool) => {
    const { readState, commitsWithinMs, learned } = tool;
    if (!readState || commitsWithinMs === undefined || learned.readerChecked) {
      return Promise.resolve();
    }
    const checking = checks.get(tool.name) ?? checkReader(tool, engine);
    checks.set(tool.name, checking);
    return checking;
  };
}

/**
 * Whether it finds one of the commits since `committedSince`, by default of the last day. If it finds none of them, it is
 * blind.
 */
export async function checkReader(
  tool: Tool,
  engine: Engine,
  committedSince?: number,
): Promise<boolean> {
  const now = engine.ledger.clock.earliest();
  const query = {
    states: ["committed"],
    tool: tool.name,
    since: committedSince ?? now - DAY_MS,
    // A reader may lag by as much as the tool declares.
    until: now - (tool.commitsWithinMs ?? 0),
    limit: ENOUGH,
  } as const;
  const { items } = await listRecords(engine, query);
  let missed: Operation | undefined;
  for (const { record } of items) {
    const operation = recallSettled(record, tool, () => {});
    const reading = await askReader(operation, record, tool.readTimeoutMs, engine, {
      tag: "has_its_own",
      effectId: undefined,
    });
    if (reading.reading === "cannot_tell") continue;
    if (reading.reading !== "absent") {
      tool.learned.readerChecked = true;
      return true;
    }
    missed = operation;
  }
  if (missed) markReaderBlind(missed, engine);
  return false;
}
