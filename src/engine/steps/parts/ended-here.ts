/**
 * How long ago attempts ended in this process, by its monotonic clock. Where the store runs on the same host, whoever
 * sets the time moves the store's clock and the wall clock alike, but not the monotonic one.
 *
 * @module
 */

import type { Engine } from "../../engine.ts";

/** Remembers the end for `ms`, the time in which the service may still commit: after that it limits nothing. */
export function rememberEnd(id: string, n: number, ms: number, engine: Engine): void {
  const { endedHere, clock } = engine;
  const ended = { n, at: clock.monotonic() };
  endedHere.set(id, [...(endedHere.get(id) ?? []), ended]);
  const forget = () => {
    const others = (endedHere.get(id) ?? []).filter((other) => other !== ended);
    if (others.length > 0) endedHere.set(id, others);
    else endedHere.delete(id);
  };
  clock.after(ms, forget, true);
}

/** By the number of the attempt: how long ago it ended. */
export function sinceEnds(id: string, { endedHere, clock }: Engine): ReadonlyMap<number, number> {
  const now = clock.monotonic();
  return new Map((endedHere.get(id) ?? []).map(({ n, at }) => [n, now - at]));
}
