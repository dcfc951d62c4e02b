/**
 * The attributes of spans and metrics. They contain no arguments, results, keys or messages; those of
 * metrics have few different values.
 *
 * @module
 */

import type { HoldfireEvents } from "../events.ts";
import { errorType } from "../redacted.ts";

type Event<N extends keyof HoldfireEvents> = HoldfireEvents[N];
type Given = Record<string, string | number | boolean | undefined>;
type Attributes = Record<string, string | number | boolean>;

/** Leaves out attributes without a value. */
export function attributes(given: Given): Attributes {
  const kept: Attributes = {};
  for (const [name, value] of Object.entries(given)) if (value !== undefined) kept[name] = value;
  return kept;
}

export const TOOL = "gen_ai.tool.name";
export const KIND = "holdfire.tool.kind";
export const GEN_AI_OPERATION = "gen_ai.operation.name";
export const ERROR_TYPE = "error.type";

/** Waiting for a person, a person's denial and a caller's own abort are not errors. */
const FINE = new Set(["committed", "held", "denied", "in_progress"]);

/** `undefined`: it did not fail. */
export function failureOf({ status, reason, error }: Event<"outcome">): string | undefined {
  if (FINE.has(status) || reason === "aborted") return undefined;
  return status === "failed" ? errorType(error) : (reason ?? status);
}

export function failureOfAttempt(event: Event<"verdict">): string | undefined {
  const { verdict, status, error, timedOut } = event;
  if (verdict === "committed") return undefined;
  if (timedOut) return "timeout";
  if (status !== undefined && status >= 400) return String(status);
  return error === undefined ? verdict : errorType(error);
}

/** The metric attributes of an outcome. */
export const ofOutcome = (event: Event<"outcome">): Attributes =>
  attributes({
    [TOOL]: event.tool,
    [KIND]: event.kind,
    "holdfire.outcome": event.status,
    "holdfire.replayed": event.replayed,
    [ERROR_TYPE]: failureOf(event),
  });

/** The metric attributes of an attempt that has ended or whose time is up. */
export const ofVerdict = (event: Event<"verdict">): Attributes =>
  attributes({
    [TOOL]: event.tool,
    "holdfire.verdict": event.verdict,
    [ERROR_TYPE]: failureOfAttempt(event),
  });
