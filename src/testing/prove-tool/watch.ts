/**
 * Asks the reader about a probe, from the end of its firing until the time in which it may commit is
 * over, and longer if it is not there by then.
 *
 * @module
 */

import { cannotTell, checkReading, type Reading } from "../../engine/define/reading.ts";
import type { Tool } from "../../engine/define/tool.ts";
import { type Clock, sleep, systemClock } from "../../lang/clock.ts";
import { withTimeLimit } from "../../lang/time-limit.ts";
import type { Probe } from "./probe.ts";

/** One answer of the reader. */
export interface Look {
  /** When the read began, in milliseconds after the firing had ended. */
  readonly afterMs: number;
  readonly reading: Reading<unknown>["reading"];
  readonly result?: unknown;
  readonly effectId?: string | undefined;
  /** Why it cannot tell. */
  readonly why?: string | undefined;
}

export interface Watching {
  readonly tool: Tool;
  readonly clock: Clock;
  readonly endedAt: number;
  /** After this many milliseconds the last word is asked for. */
  readonly windowMs: number;
  /** How long to go on asking for what is not there by then. */
  readonly lookForMs: number;
  /** Whose effect this is, by key. */
  readonly owners: Map<string, string>;
}

const MOST_LOOKS = 50;
const CLOSEST_MS = 10;

/** The looks in order. The last one began after the window, or is the first to find it later. */
export async function watch(probe: Probe, watching: Watching): Promise<readonly Look[]> {
  const { clock, endedAt, windowMs, lookForMs } = watching;
  const stepMs = Math.max(CLOSEST_MS, Math.max(windowMs, lookForMs) / MOST_LOOKS);
  const looks: Look[] = [];
  for (;;) {
    const look = await ask(probe, watching);
    looks.push(look);
    const found = isFound(look);
    const past = look.afterMs > windowMs;
    if (past && (found || look.afterMs >= lookForMs)) return looks;
    // One millisecond more: only a look that began *after* the window is the last word.
    const toWindow = Math.max(windowMs + 1 - (clock.monotonic() - endedAt), 0);
    const waitMs = past ? stepMs : found ? toWindow : Math.min(stepMs, toWindow);
    if (waitMs > 0) await sleep(clock, waitMs);
  }
}

export const isFound = ({ reading }: Look): boolean =>
  reading === "committed" || reading === "duplicated";

/** A reader that throws, hangs or talks nonsense is one that cannot tell, as in the engine. */
export async function ask(probe: Probe, watching: Watching): Promise<Look> {
  const { tool, clock, endedAt, owners } = watching;
  const { intent, key, firstSentAt } = probe;
  const stop = new AbortController();
  const afterMs = clock.monotonic() - endedAt;
  const asked = (async () =>
    tool.readState?.({
      intent,
      key,
      keys: [key],
      firstSentAt,
      taken: async (effectId) => (owners.get(effectId) ?? key) !== key,
      signal: stop.signal,
    }))();
  const answer = await withTimeLimit(systemClock, tool.readTimeoutMs, asked);
  stop.abort();
  const reading = answer.tag === "done" ? checkReading(answer.value) : cannotTell(answer.tag);
  switch (reading.reading) {
    case "committed": {
      const { result, effectId } = reading;
      if (effectId !== undefined && !owners.has(effectId)) owners.set(effectId, key);
      return { afterMs, reading: "committed", result, effectId };
    }
    case "cannot_tell":
      return { afterMs, reading: "cannot_tell", why: String(reading.why).slice(0, 200) };
    default:
      return { afterMs, reading: reading.reading };
  }
}
