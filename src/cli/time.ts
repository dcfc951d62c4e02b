/**
 * Times as people type and read them: `30d`, `90m`, `2026-11-16T08:00Z`; `3 h ago`.
 *
 * @module
 */

import { UsageError } from "./exit.ts";
import { visible } from "./printable.ts";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

const HINT = "A duration is a number and one of ms, s, m, h, d, w: 90s, 24h, 30d.";

/** A duration in milliseconds. */
export function durationOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, number = "", unit = ""] = /^(\d{1,9})(ms|s|m|h|d|w)$/.exec(text) ?? [];
  const ms = Number(number) * (UNITS[unit as keyof typeof UNITS] ?? 0);
  if (ms > 0) return ms;
  throw new UsageError(`--${name} does not understand "${visible(text)}".`, HINT);
}

/** A point in time in milliseconds: a date, or so long ago. */
export function timeOf(name: string, text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}[a-z]/.test(text)) return now - (durationOf(name, text) ?? 0);
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isFinite(at)) return at;
  const hint = "It takes a date (2026-11-16T08:00Z) or a duration ago (24h).";
  throw new UsageError(`--${name} does not understand "${visible(text)}".`, hint);
}

/** To the millisecond, in UTC. A time that is none is shown as it is. */
export const showTime = (at: number): string =>
  Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : String(at);

const STEPS = [
  ["d", UNITS.d],
  ["h", UNITS.h],
  ["min", UNITS.m],
  ["s", UNITS.s],
] as const;

/** In one unit: `3 h`. */
export function showDuration(ms: number): string {
  const [unit, size] = STEPS.find(([, least]) => Math.abs(ms) >= least) ?? ["ms", 1];
  return `${Math.floor(Math.abs(ms) / size)} ${unit}`;
}
