/**
 * What telemetry says of an operation, under which names. No arguments, results, keys or messages; and
 * on metrics nothing of which there can be many.
 *
 * @module
 */

import type { HoldfireEvents } from "../events.ts";
import { errorType } from "../failure.ts";

type Event<N extends keyof HoldfireEvents> = HoldfireEvents[N];
type Given = Record<string, string | number | boolean | undefined>;
type Attributes = Record<string, string | number | boolean>;

/** Without those that have no value. */
export function attributes(given: Given): Attributes {
  const kept: Attributes = {};
  for (const [name, value] of Object.entries(given)) if (value !== undefined) kept[name] = value;
  return kept;
}

export const TOOL = "gen_ai.tool.name";
export const ERROR_TYPE = "error.type";

/** Waiting for a person, their no, and a caller's own abort are not errors. */
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

/** Of the outcome, for metrics. */
export const ofOutcome = (event: Event<"outcome">): Attributes =>
  attributes({
    [TOOL]: event.tool,
    "holdfire.outcome": event.status,
    "holdfire.replayed": event.replayed,
    [ERROR_TYPE]: failureOf(event),
  });

/** Of an attempt that has ended or whose time was up, for metrics. */
export const ofVerdict = (event: Event<"verdict">): Attributes =>
  attributes({
    [TOOL]: event.tool,
    "holdfire.verdict": event.verdict,
    [ERROR_TYPE]: failureOfAttempt(event),
  });
