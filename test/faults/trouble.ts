/**
 * A store that gets into trouble and out of it again, with all that it had.
 *
 * @module
 */

import type { Place } from "../processes/place.ts";

/** Ends a trouble. Resolves once the store is back. */
export type End = () => Promise<unknown>;

export interface TroubledStore {
  readonly place: Place;
  /** Resolves once the trouble is there. `pid` is the process that uses the store. */
  begin(pid: number): Promise<End>;
  stop(): Promise<void>;
}

export interface Trouble {
  readonly says: string;
  /** Whether it lasts until it is ended; else the store comes back by itself. */
  readonly lasts: boolean;
  /** `undefined` where there is no such server, which has then been said. */
  start(): Promise<TroubledStore | undefined>;
}
