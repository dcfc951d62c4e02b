/**
 * The store's clock: the host's monotonic clock, anchored once per boot to the time of day.
 *
 * A wall clock that is set forward would end leases under their owners, and one that is set back
 * would keep dead owners alive. All processes of one boot read the same monotonic clock, and the
 * database tells them the same anchor.
 *
 * @module
 */

import { readFileSync } from "node:fs";
import { hrtime } from "../../lang/clock.ts";

/** What the ledger knows of its clock. */
export interface Anchor {
  /** The boot it was made in; empty where a boot has no name. */
  readonly boot: string;
  /** The clock's time is this plus the monotonic one, in milliseconds. */
  readonly base: number;
}

/** The boot of a ledger that was never opened. */
const NO_BOOT = "none";

/** This boot, as the host tells it. */
export interface Host {
  readonly boot: string;
  /** Milliseconds from some point on, the same for all processes. */
  readonly monotonic: number;
  /** Milliseconds since the epoch. */
  readonly wall: number;
}

/**
 * The anchor to go by; `rebooted` if all who held a lease are gone. Time never goes back past `now`,
 * the latest the ledger has seen.
 *
 * Where a boot has no name, a monotonic clock that went back tells it. One that did not may hide a
 * boot, but then old leases only run on to their end. A process that may not read the name is in the
 * same boot as one that may: it must not end the leases of the other.
 */
export function anchorFor(
  known: Anchor,
  now: number,
  { boot, monotonic, wall }: Host,
): { readonly anchor: Anchor; readonly rebooted: boolean } {
  const isBehind = known.base + monotonic < now;
  const isSame =
    known.boot === boot || (known.boot !== NO_BOOT && (known.boot === "" || boot === ""));
  if (isSame && !isBehind) return { anchor: known, rebooted: false };
  const rebooted = known.boot !== boot || boot === "";
  const time = rebooted ? Math.max(wall, now) : now;
  return { anchor: { boot, base: Math.ceil(time - monotonic) }, rebooted };
}

/** The same for all processes of this boot: Node reads the host's clock here, not its own. */
export const monotonicMs = (): number => Number(hrtime.bigint()) / 1e6;

export const thisHost = (): Host => ({
  boot: bootId(),
  // Before the other: a pause between the two leaves the store's clock late, never ahead of the time of day.
  wall: Date.now(),
  monotonic: monotonicMs(),
});

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}
