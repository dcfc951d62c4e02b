/**
 * The frozen copy of the arguments that is checked, named and run. Taken before anything is waited
 * for: a caller who changes its arguments afterwards changes nothing.
 *
 * @module
 */

import { type Canonical, canonicalize } from "../key/canonical.ts";
import type { Tool } from "./engine.ts";
import { checkArguments } from "./schema.ts";

/** Synchronous up to the schema, which sees only the copy. */
export function snapshotArguments(tool: Tool, given: unknown): Promise<Canonical> {
  const copy = canonicalize(given, "args");
  if (!tool.input || !("~standard" in tool.input)) return Promise.resolve(copy);
  return checkArguments(tool.name, tool.input, copy.value).then((checked) =>
    checked === copy.value ? copy : canonicalize(checked, "args"),
  );
}
