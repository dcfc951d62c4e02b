/**
 * A reader must earn its word: after a tool's first committed call it is asked about that commit, once
 * and in the background. One that cannot find it loses the absent licence.
 *
 * @module
 */

import type { OperationRecord } from "../../ledger/record.ts";
import { type Engine, inBackground } from "../engine.ts";
import { about, type Operation } from "../operation/operation.ts";
import { askReader } from "./ask-reader.ts";

export function checkReaderOnce(
  operation: Operation,
  record: OperationRecord,
  engine: Engine,
): void {
  const { tool } = operation;
  const { learned } = tool;
  if (!tool.readState || learned.readerChecked) return;
  learned.readerChecked = true;
  // A reader may lag by as much as it declares.
  engine.clock.after(
    tool.commitsWithinMs ?? 0,
    () =>
      inBackground(engine, async () => {
        const reading = await askReader(operation, record, tool.readTimeoutMs, engine);
        if (reading.reading === "cannot_tell") learned.readerChecked = false;
        if (reading.reading !== "absent") return;
        learned.readerBlind = true;
        engine.events.emit("warning", () => ({ ...about(operation), code: "reader_blind" }));
      }),
    true,
  );
}
