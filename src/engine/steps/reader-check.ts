/**
 * A reader must earn its word: after a tool's first committed call it is asked about that commit, once
 * and in the background. One that cannot find it loses the absent licence.
 *
 * @module
 */

import { about } from "../call/operation.ts";
import { type Engine, inBackground } from "../engine.ts";
import { askReader } from "./ask-reader.ts";
import type { Owned } from "./ownership.ts";

export function checkReaderOnce(owned: Owned, engine: Engine): void {
  const { operation, stored } = owned;
  const { tool } = operation;
  const { learned } = tool;
  if (!tool.readState || learned.readerChecked) return;
  learned.readerChecked = true;
  // A reader may lag by as much as it declares.
  engine.clock.after(
    tool.commitsWithinMs ?? 0,
    () =>
      inBackground(engine, async () => {
        const reading = await askReader(operation, stored.record, tool.readTimeoutMs, engine);
        if (reading.reading === "cannot_tell") learned.readerChecked = false;
        if (reading.reading !== "absent") return;
        learned.readerBlind = true;
        engine.events.emit("warning", () => ({ ...about(operation), code: "reader_blind" }));
      }),
    true,
  );
}
