/**
 * What a chaos run is told to do: the faults, which write is hit, and how the preload gets to know it.
 *
 * @module
 */

/** `status-503` stands for every status from 400 to 599. */
export type Fault = "reset" | "lose-reply" | "slow" | "truncate" | `status-${number}`;

export const FAULTS: readonly Fault[] = ["reset", "lose-reply", "slow", "truncate", "status-503"];

export function faultOf(text: string): Fault | undefined {
  const status = /^status-([45]\d\d)$/.exec(text)?.[1];
  return status === undefined ? FAULTS.find((fault) => fault === text) : `status-${Number(status)}`;
}

/** For every process of one run of the agent. */
export interface Orders {
  /** Where each process writes its log. */
  readonly folder: string;
  /** Makes the hashes in the logs worthless to others. The same for all runs, which are compared. */
  readonly salt: string;
  /** What becomes of the reply to the write that is hit; without it, requests are only watched. */
  readonly fault?: Fault | undefined;
  /** Which write is hit, from 1. */
  readonly nth: number;
  /** Which requests count as writes, as patterns; empty: those that look like one. */
  readonly match: readonly string[];
  /** Which do not, as patterns. */
  readonly ignore: readonly string[];
  /** Hosts of models, besides the known ones. */
  readonly modelHosts: readonly string[];
  readonly slowMs: number;
}

/** The environment variable with the orders: it also reaches what the agent starts. */
export const ORDERS = "HOLDFIRE_CHAOS";

export function readOrders(env: Readonly<Record<string, string | undefined>>): Orders | undefined {
  const text = env[ORDERS];
  return text === undefined ? undefined : (JSON.parse(text) as Orders);
}
