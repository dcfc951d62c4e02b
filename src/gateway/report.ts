/**
 * What happened in a session, counted.
 *
 * @module
 */

import type { Holdfire } from "../api.ts";
import type { CallEvent } from "./guard/call.ts";

type Counted = CallEvent | "call" | "guarded";

export interface Report {
  count(event: Counted): void;
  lines(): readonly string[];
}

const WORDS: readonly (readonly [Counted, string])[] = [
  ["call", "tool calls of the host"],
  ["guarded", "of them guarded; the others only read"],
  ["fired", "sent to the server under the guard"],
  ["same", "made again by the host without having received an answer"],
  ["repeated", "made again soon after a received answer"],
  ["replayed", "answered from the ledger"],
  ["asked", "asked about, because it had been done before"],
  ["held", "held for a person"],
  ["unknown", "told as unknown"],
];

export function createReport(hf: Holdfire): Report {
  const counts = new Map<Counted, number>();
  const count = (event: Counted) => void counts.set(event, (counts.get(event) ?? 0) + 1);
  hf.on("attempt", () => count("fired"));
  return {
    count,
    lines: () =>
      WORDS.map(([event, words]) => `${String(counts.get(event) ?? 0).padStart(6)} ${words}`),
  };
}
