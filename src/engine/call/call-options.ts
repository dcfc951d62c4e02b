/**
 * The options of one call, checked before anything else is done.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { checkRetry } from "../../key/check-name.ts";
import { checkOptions, positive } from "../define/check.ts";

import type { Tool } from "../define/tool.ts";
import type { Caller } from "../operation/execution.ts";
import type { Naming } from "../operation/operation.ts";

/** All options of a call; `hf.run` takes them beside the tool's own. */
export const CALL_OPTIONS: readonly (keyof Naming)[] = [
  "scope",
  "again",
  "retry",
  "signal",
  "deadlineMs",
  "aliases",
  "key",
];

export function callerOf(tool: Tool, options: Naming): Caller {
  checkOptions(options, CALL_OPTIONS, "options");
  const signal = checkSignal(options.signal);
  if (options.retry !== undefined) checkRetry(options.retry);
  const deadlineMs = positive(options.deadlineMs ?? tool.deadlineMs, "options.deadlineMs");
  return { signal, deadlineMs };
}

/** Duck typed, as everywhere: signals of other realms and polyfills are good enough. */
function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const { aborted, addEventListener, removeEventListener } = Object(signal) as AbortSignal;
  const fits =
    typeof aborted === "boolean" &&
    typeof addEventListener === "function" &&
    typeof removeEventListener === "function";
  if (!fits) throw new InvalidInputError("options.signal", "must be an AbortSignal.");
  return signal;
}
