/**
 * The result of a commit: what `run` returned, what a reader found, or nothing that could be kept.
 *
 * @module
 */

import { isResponse } from "../../classify/answer.ts";
import type { Reading } from "../define/reading.ts";
import type { Engine } from "../engine.ts";
import { about } from "../operation/operation.ts";
import type { Result } from "../outcome/kept-result.ts";
import { askReader } from "../reader/ask-reader.ts";
import type { Owned } from "./ownership.ts";

/** What the attempt returned, or the last read found; `undefined` if neither is whole. */
export function resultAtHand(
  { results, reading }: Owned,
  attempt: number | undefined,
): Result | undefined {
  if (attempt === undefined) return reading && foundIn(reading);
  const result = results.get(attempt);
  return result && (result.kept || !isResponse(result.value)) ? result : undefined;
}

/** A result that is missing is asked for once more. */
export async function missingResult(
  { operation, stored, results }: Owned,
  attempt: number | undefined,
  engine: Engine,
): Promise<Result | undefined> {
  if (attempt === undefined) return undefined;
  const { tool } = operation;
  const found = tool.readState
    ? foundIn(await askReader(operation, stored.record, tool.readTimeoutMs, engine))
    : undefined;
  const why = results.has(attempt) ? "the body broke off" : "there was no result";
  if (!found) {
    engine.events.emit("warning", () => ({ ...about(operation), code: "payload_lost", why }));
  }
  return found;
}

function foundIn(reading: Reading<unknown>): Result | undefined {
  if (reading.reading === "committed") return { value: reading.result };
  return reading.reading === "duplicated" ? { value: reading.results[0] } : undefined;
}
