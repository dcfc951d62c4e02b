/**
 * Where and when a run was made.
 *
 * @module
 */

import { arch, cpus, loadavg, platform, totalmem } from "node:os";

export interface Machine {
  readonly date: string;
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly system: string;
  /** How many processes wanted a core in the minute before the run. */
  readonly load: number;
}

export function thisMachine(now: Date): Machine {
  const all = cpus();
  return {
    date: now.toISOString().slice(0, 10),
    node: process.version,
    cpu: (all[0]?.model ?? "unknown").trim(),
    cores: all.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()}`,
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

/** Where other work takes more of the machine than this, ratios are chance. */
const BUSY = 0.75;

/** What is to be said of the run before its figures are believed; empty if there is nothing. */
export function doubts({ load, cores }: Machine, isQuick: boolean): readonly string[] {
  const busy = `The machine was busy with other work (load ${load} on ${cores} cores): the figures say little.`;
  const short = "Three short rounds: they show that it runs, and say little else.";
  return [...(load > BUSY * cores ? [busy] : []), ...(isQuick ? [short] : [])];
}

export const machineText = ({ date, node, cpu, cores, memoryGb, system }: Machine): string =>
  `${date}, Node ${node}, ${cores} × ${cpu}, ${memoryGb} GB, ${system}`;
