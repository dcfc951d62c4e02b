/**
 * The frozen copy of the arguments that is checked, named and run. Taken before anything is waited
 * for: a caller who changes its arguments afterwards changes nothing.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { type Canonical, canonicalize } from "../../key/canonical.ts";
import { withTimeLimit } from "../../lang/time-limit.ts";
import { checkArguments } from "../define/schema.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";

/** Synchronous up to the schema, which sees only the copy. */
export async function snapshotArguments(
  tool: Tool,
  given: unknown,
  timeoutMs: number,
  { clock }: Engine,
): Promise<Canonical> {
  const copy = canonicalize(given, "args");
  if (!tool.input || !("~standard" in tool.input)) return copy;
  const checking = checkArguments(tool.name, tool.input, copy.value);
  const inTime = await withTimeLimit(clock, timeoutMs, checking);
  if (inTime.tag === "failed") throw inTime.error;
  if (inTime.tag === "late")
    throw new InvalidInputError("args", "were not checked in time by the schema.");
  return inTime.value === copy.value ? copy : canonicalize(inTime.value, "args");
}
