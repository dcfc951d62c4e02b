/**
 * The result of a commit: what `run` returned, what a reader found, or nothing that could be kept.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import { about } from "../call/operation.ts";
import type { Engine, ErasedReading } from "../engine.ts";
import { askReader } from "../steps/ask-reader.ts";
import type { Owned, Result } from "../steps/ownership.ts";

/** The result of a commit; one that nobody has is asked for once more. */
export async function commitResult(
  owned: Owned,
  attempt: number | undefined,
  engine: Engine,
): Promise<Result | undefined> {
  const { operation, stored, reading } = owned;
  if (attempt === undefined) return reading && foundIn(reading);
  const result = owned.results.get(attempt);
  if (result && !(isResponse(result.value) && !result.kept)) return result;
  const { tool } = operation;
  const found = tool.readState
    ? foundIn(await askReader(operation, stored.record, tool.readTimeoutMs, engine))
    : undefined;
  const why = result ? "the body broke off" : "there was no result";
  if (!found)
    engine.events.emit("warning", () => ({ ...about(operation), code: "payload_lost", why }));
  return found;
}

function foundIn(reading: ErasedReading): Result | undefined {
  if (reading.reading === "committed") return { value: reading.result };
  return reading.reading === "duplicated" ? { value: reading.results[0] } : undefined;
}
