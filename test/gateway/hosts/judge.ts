/**
 * Whether what was seen is what must be.
 *
 * @module
 */

import type { Column, Told } from "./columns.ts";
import type { Seen, Way } from "./play.ts";

/** What is wrong; `undefined`: nothing. */
export function problemOf(seen: Seen, column: Column, way: Way): string | undefined {
  const { payments, words, isHit } = seen;
  if (column.fault && !isHit) return "the fault was not hit";
  if (way === "bare") {
    const isTwice = payments === 2 || payments === 3;
    return isTwice ? undefined : `${payments} payments without the gateway, and not 2 or 3`;
  }
  if (payments !== column.payments) return `${payments} payments, and not ${column.payments}`;
  if (toldLast(seen) !== column.told) return `the model was told last: ${words.at(-1)}`;
  return undefined;
}

function toldLast({ words }: Seen): Told | "something_else" {
  const last = words.at(-1) ?? "";
  if (last.includes("Already done at") || last.includes('"outcome":"denied"')) {
    return "done_or_denied";
  }
  if (last.includes('"outcome":"unknown"')) return "unknown";
  return last.includes("Paid, as payment") ? "answer" : "something_else";
}
