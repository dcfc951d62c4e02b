/**
 * What a caller passes, checked before anything else is done: a copy of the options of a call, and a frozen copy of its
 * arguments. A caller who changes either afterwards changes nothing.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { type Canonical, canonicalize } from "../../key/canonical.ts";
import { checkRetry, checkStep } from "../../key/check-name.ts";
import { withTimeLimit } from "../../lang/clock.ts";
import { checkOptions, positive } from "../define/check.ts";
import { checkArguments } from "../define/schema.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import type { Caller, NamedCallOptions } from "../operation/operation.ts";

/** Synchronous up to the schema, which sees only the copy. */
export function snapshotArguments(
  tool: Tool,
  given: unknown,
  timeoutMs: number,
  engine: Engine,
): Canonical | Promise<Canonical> {
  const copy = canonicalize(given, "args");
  if (!tool.input || !("~standard" in tool.input)) return copy;
  return checked(tool, copy, timeoutMs, engine);
}

async function checked(
  tool: Tool,
  copy: Canonical,
  timeoutMs: number,
  { clock }: Engine,
): Promise<Canonical> {
  const checking = checkArguments(tool.name, tool.input, copy.value);
  const inTime = await withTimeLimit(clock, timeoutMs, checking);
  if (inTime.tag === "failed") throw inTime.error;
  if (inTime.tag === "late")
    throw new InvalidInputError("args", "were not checked in time by the schema.");
  return inTime.value === copy.value ? copy : canonicalize(inTime.value, "args");
}

/** All options of a call; `hf.run` takes them beside the tool's own. */
export const CALL_OPTIONS: readonly (keyof NamedCallOptions)[] = [
  "scope",
  "again",
  "retry",
  "signal",
  "deadlineMs",
  "aliases",
  "step",
  "key",
];

/**
 * As they are now, each read once: a caller may change them for its next call before this one has read them all. By name, so
 * that those of a class or a prototype count, too.
 */
export function snapshotOptions(options: NamedCallOptions): NamedCallOptions {
  checkOptions(options, CALL_OPTIONS, "options");
  const { scope, again, retry, signal, deadlineMs, aliases: given, step, key } = options;
  const aliases = Array.isArray(given) ? [...given] : given;
  return { scope, again, retry, signal, deadlineMs, aliases, step, key };
}

/** `options` is a snapshot. */
export function callerOf(tool: Tool, options: NamedCallOptions): Caller {
  const signal = checkSignal(options.signal);
  if (options.retry !== undefined) checkRetry(options.retry);
  if (options.step !== undefined) checkStep(options.step);
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
