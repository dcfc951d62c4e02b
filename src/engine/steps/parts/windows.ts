/**
 * The two time windows that licences rest on. Each is checked on every clock at hand, and the most cautious one counts:
 * *absent* is proof only when even the slowest clock is past the window; a key is good only while even the fastest clock
 * is within it. So a host that slept, or a clock that was set, can only keep something from being fired.
 *
 * @module
 */

import type { AttemptNote } from "../../../ledger/record.ts";

/** When a read began: no later than the store's clock, and by the wall clock. */
export interface Began {
  readonly beganAt: number;
  readonly wall: number;
  /** How long ago attempts of this process had ended, by its monotonic clock; by their number. */
  readonly sinceEnd?: ReadonlyMap<number, number> | undefined;
}

/** The time after which *absent* is proof for all of them; not known while one has not ended. */
export function proofDue(
  doubtful: readonly AttemptNote[],
  commitsWithinMs: number | undefined,
  lastRead: Began | undefined,
): number | "not yet" | "never" {
  if (commitsWithinMs === undefined) return "never";
  let due = 0;
  for (const { n, endedAt, endsBy, unvetoable, skew } of doubtful) {
    const end = endedAt ?? endsBy;
    if (end === undefined) return "not yet";
    if (endedAt === undefined && unvetoable) return "never";
    due = Math.max(
      due,
      end + commitsWithinMs + (lastRead ? overstated(lastRead, n, end, skew) : 0),
    );
  }
  return due;
}

/** How much more the store's clock shows than the wall clock, or the monotonic one: it was set forward. */
function overstated(
  { beganAt, wall, sinceEnd }: Began,
  n: number,
  end: number,
  skew: number | undefined,
): number {
  const byWall = skew === undefined ? beganAt : wall - skew;
  const since = sinceEnd?.get(n);
  const byMonotonic = since === undefined ? beganAt : end + since;
  return Math.max(beganAt - Math.min(byWall, byMonotonic), 0);
}

/** Counted from the first send of this key; `now` is no earlier than the store's clock. */
export function isKeyExpired(
  attempts: readonly AttemptNote[],
  { lastsMs, generation }: { readonly lastsMs: number; readonly generation: number },
  { now, wall }: { readonly now: number; readonly wall: number },
): boolean {
  return attempts.some(({ at, skew, ...attempt }) => {
    if (attempt.generation !== generation) return false;
    const latest = skew === undefined ? now : Math.max(now, wall - skew);
    return latest - at > lastsMs;
  });
}
