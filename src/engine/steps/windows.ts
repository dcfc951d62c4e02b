/**
 * The two windows of time that licences rest on, each by two clocks: *absent* is proof from a time on, by the clock
 * that shows less; a key is remembered until a time, by the clock that shows more. A host that slept and a clock
 * that was set then err on the side of not firing.
 *
 * @module
 */

import type { AttemptNote } from "../../ledger/record.ts";

/** When a read began: no later than the store's clock, and by the wall clock. */
interface Began {
  readonly beganAt: number;
  readonly wall: number;
}

/** The time after which *absent* is proof for all of them; not known while one has not ended. */
export function proofDue(
  doubtful: readonly AttemptNote[],
  commitsWithinMs: number | undefined,
  lastRead: Began | undefined,
): number | "not yet" | "never" {
  if (commitsWithinMs === undefined) return "never";
  let due = 0;
  for (const { endedAt, endsBy, unvetoable, skew } of doubtful) {
    const end = endedAt ?? endsBy;
    if (end === undefined) return "not yet";
    if (endedAt === undefined && unvetoable) return "never";
    due = Math.max(due, end + commitsWithinMs + overstated(lastRead, skew));
  }
  return due;
}

/** How much more the store's clock shows than the wall clock: it was set forward. */
const overstated = (lastRead: Began | undefined, skew: number | undefined): number =>
  lastRead && skew !== undefined ? Math.max(lastRead.beganAt - (lastRead.wall - skew), 0) : 0;

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
