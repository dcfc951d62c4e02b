/**
 * The service's state, read from its effect log: now, or as it was at some time.
 *
 * @module
 */

import type { LoggedEffect } from "./logs.ts";
import type { ToolClass } from "./tool-class.ts";

/** A conditional record. */
export interface RecordState {
  readonly value: unknown;
  readonly version: string;
}

/** The effects of one class that had happened at `asOf`. */
export function effectsOf(
  effects: readonly LoggedEffect[],
  toolClass: ToolClass,
  asOf: number = Number.POSITIVE_INFINITY,
): readonly LoggedEffect[] {
  return effects.filter((effect) => effect.class === toolClass && effect.at <= asOf);
}

/** Those whose key or top-level fields match all of the query, values compared as text. */
export function search(
  effects: readonly LoggedEffect[],
  query: URLSearchParams,
): readonly LoggedEffect[] {
  const wanted = [...query];
  return effects.filter((effect) =>
    wanted.every(([field, value]) =>
      field === "key" ? effect.key === value : fieldText(effect.intent, field) === value,
    ),
  );
}

/** The version of a list of effects: it moves with each of them. */
export function versionOf(effects: readonly LoggedEffect[]): string {
  return `"${effects.length}"`;
}

/** What is written under a name, given the effects of the conditional class. */
export function recordOf(effects: readonly LoggedEffect[], name: string): RecordState | undefined {
  const writes = effects.filter(({ record }) => record === name);
  const last = writes.at(-1);
  return last && { value: last.intent, version: versionOf(writes) };
}

function fieldText(intent: unknown, field: string): string | undefined {
  if (typeof intent !== "object" || intent === null) return undefined;
  const value: unknown = Object.getOwnPropertyDescriptor(intent, field)?.value;
  const plain =
    typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return plain ? String(value) : undefined;
}
