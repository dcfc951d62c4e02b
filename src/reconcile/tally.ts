/**
 * Counts what a reconciliation has done so far.
 *
 * @module
 */

import type { ReconcileProgress, ReconcileReport, StillUnknown } from "./report.ts";
import type { Settled } from "./settle-one.ts";

export interface Tally {
  add(settled: Settled): void;
  noTool(name: string): void;
  otherVersion(): void;
  progress(): ReconcileProgress;
  report(): Omit<ReconcileReport, "ended" | "cursor">;
}

export function createTally(): Tally {
  const stillUnknown: StillUnknown[] = [];
  const noTool = new Map<string, number>();
  const count = { committed: 0, not_applied: 0, busy: 0, otherVersion: 0, noTool: 0, resent: 0 };
  const looked = () => ({
    looked: count.committed + count.not_applied + stillUnknown.length,
    committed: count.committed,
    notApplied: count.not_applied,
  });
  return {
    add(settled) {
      if (settled.tag === "unknown") stillUnknown.push(settled.operation);
      else count[settled.tag] += 1;
      if (settled.tag !== "busy") count.resent += settled.resent;
    },
    noTool(name) {
      count.noTool += 1;
      noTool.set(name, (noTool.get(name) ?? 0) + 1);
    },
    otherVersion() {
      count.otherVersion += 1;
    },
    progress: () => ({
      ...looked(),
      stillUnknown: stillUnknown.length,
      skipped: count.busy + count.otherVersion + count.noTool,
    }),
    report: () => ({
      ...looked(),
      stillUnknown,
      resent: count.resent,
      skipped: {
        busy: count.busy,
        noTool: Object.fromEntries(noTool),
        otherVersion: count.otherVersion,
      },
    }),
  };
}
