/**
 * Words, times and lengths as the page shows them.
 *
 * @module
 */

import type { StateTag } from "../model.ts";

/** What each status means, in a sentence. */
export const STATUS: Readonly<Record<StateTag, string>> = {
  held: "Nothing was sent. A person must approve it first.",
  claimed: "A process is making the call; it may have been sent.",
  unknown: "It was sent, and it is not known whether it happened. It is not sent again.",
  committed: "It happened, once.",
  not_applied: "It is certain that it did not happen.",
  denied: "A person said no. Nothing was sent.",
};

/** A status or a reason as a person reads it: its own name, without underscores. */
export const named = (value: string): string => value.replaceAll("_", " ");

export const STATUSES = Object.keys(STATUS) as readonly StateTag[];

export const GLOSSARY = {
  operation: "One thing that was asked for, from the first call to its outcome.",
  scope: "The permission it was made under: one request of a person, one job, one step.",
  attempt: "One firing of the tool.",
  licence:
    "What allows an attempt after the first: it was never sent, it was refused, a read found nothing, the service recognises the key, or a person allowed it.",
  key: "The idempotency key that the service sees: the same on every attempt of an operation.",
  fired: "How often the tool was called for this operation.",
  late_reply:
    "An answer that came after the time of its attempt was up. It is filed, and may settle it.",
  lane: "The queue of one resource: writes to it go one at a time, and none goes while one is unknown.",
  hidden_retry:
    "A request that one attempt sent more than once, because a client inside the tool retries by itself.",
  claim: "Makes a process the owner of an operation. A second claim is a takeover or a new try.",
  plan: "What the tool says that it would change. It is made again before it is applied.",
} as const;

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;

/** `1.2 s`, `3 min`, `2 d`. */
export function lengthOf(ms: number): string {
  const [unit, size] = UNITS.find(([, least]) => Math.abs(ms) >= least) ?? ["ms", 1];
  const value = Math.abs(ms) / size;
  return `${value < 10 && unit !== "ms" ? value.toFixed(1).replace(/\.0$/, "") : Math.floor(value)} ${unit}`;
}

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export const timeOf = (at: number): string => whole.format(at);

export const countOf = (n: number, one: string, many = `${one}s`): string =>
  `${n.toLocaleString()} ${n === 1 ? one : many}`;
