/**
 * Reads the state of a probe, from the end of its firing until the time in which it may commit is
 * over, and longer if it is not there by then.
 *
 * @module
 */

import { cannotTell, checkReading, type Reading } from "../../engine/define/reading.ts";
import type { Tool } from "../../engine/define/tool.ts";
import { type Clock, sleep, systemClock, withTimeLimit } from "../../lang/clock.ts";
import type { Probe } from "./probe.ts";

/** One answer of the reader. */
export interface ProbeRead {
  /** When the read began, in milliseconds after the firing had ended. */
  readonly afterMs: number;
  readonly reading: Reading<unknown>["reading"];
  readonly result?: unknown;
  readonly effectId?: string | undefined;
  /** Why it cannot tell. */
  readonly why?: string | undefined;
}

export interface ReadPlan {
  readonly tool: Tool;
  readonly clock: Clock;
  readonly endedAt: number;
  /** A read that begins later than this, in milliseconds after the end, decides. */
  readonly windowMs: number;
  /** How long to go on reading for what is not there by then. */
  readonly readForMs: number;
  /** Whose effect this is, by key. */
  readonly owners: Map<string, string>;
}

const MOST_READS = 50;
const CLOSEST_MS = 10;

/** The reads in order. The last one began after the window, or is the first to find it later. */
export async function readUntilFound(probe: Probe, plan: ReadPlan): Promise<readonly ProbeRead[]> {
  const { clock, endedAt, windowMs, readForMs } = plan;
  const stepMs = Math.max(CLOSEST_MS, Math.max(windowMs, readForMs) / MOST_READS);
  const reads: ProbeRead[] = [];
  for (;;) {
    const read = await readOnce(probe, plan);
    reads.push(read);
    const found = isFound(read);
    const past = read.afterMs > windowMs;
    if (past && (found || read.afterMs >= readForMs)) return reads;
    // One millisecond more: only a read that began *after* the window decides.
    const toWindow = Math.max(windowMs + 1 - (clock.monotonic() - endedAt), 0);
    const waitMs = past ? stepMs : found ? toWindow : Math.min(stepMs, toWindow);
    if (waitMs > 0) await sleep(clock, waitMs);
  }
}

export const isFound = ({ reading }: ProbeRead): boolean =>
  reading === "committed" || reading === "duplicated";

/** A reader that throws, hangs or returns nonsense is one that cannot tell, as in the engine. */
export async function readOnce(probe: Probe, plan: ReadPlan): Promise<ProbeRead> {
  const { tool, clock, endedAt, owners } = plan;
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
      fetch: globalThis.fetch,
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
