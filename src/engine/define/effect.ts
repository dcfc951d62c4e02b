/**
 * What a result says of the effect it tells of, by the tool's own `effect`.
 *
 * @module
 */

import { ignoreRejection } from "../../lang/peek.ts";
import type { Effect } from "../../reasons.ts";
import type { Reading } from "./reading.ts";
import type { Tool } from "./tool.ts";

const EFFECTS = new Set<unknown>(["created", "updated", "deleted", "noop"]);

/** A user's function that throws after the send changes nothing: it is only not asked. */
export function effectOf(
  { effect: { type, id } }: Pick<Tool, "effect">,
  result: unknown,
): { readonly effect: Effect | undefined; readonly effectId: string | undefined } {
  const effect = askSafely(type, result);
  const effectId = askSafely(id, result);
  return {
    effect: EFFECTS.has(effect) ? (effect as Effect) : undefined,
    effectId: typeof effectId === "string" && effectId.length <= 512 ? effectId : undefined,
  };
}

function askSafely(fn: ((result: unknown) => unknown) | undefined, result: unknown): unknown {
  try {
    return ignoreRejection(fn?.(result));
  } catch {
    return undefined;
  }
}

/** Of these the id names the thing that was changed, which later operations change as well. */
const CHANGES = new Set<Effect | undefined>(["updated", "deleted", "noop"]);

/**
 * A reader that names no effect may have returned it: the tool says which one it is, as it does of a reply. Only what was
 * made belongs to one operation.
 */
export function withEffect(reading: Reading<unknown>, tool: Tool): Reading<unknown> {
  if (reading.reading !== "committed" || reading.effectId !== undefined) return reading;
  const { effect, effectId } = effectOf(tool, reading.result);
  return CHANGES.has(effect) ? reading : { ...reading, effectId };
}
