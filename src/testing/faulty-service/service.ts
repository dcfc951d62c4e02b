/**
 * The faulty service as a test holds it.
 *
 * @module
 */

import type { Clock } from "../../lang/clock.ts";
import type { ServiceClient, ServiceClientOptions } from "./client.ts";
import type { Fault } from "./fault.ts";
import type { Arrival, LoggedEffect, ReadArrival } from "./logs.ts";
import type { ReadFault } from "./read-fault.ts";
import type { ToolClass } from "./tool-class.ts";

export interface FaultyServiceOptions {
  /**
   * The port on 127.0.0.1. Give one to start again where an earlier service was.
   *
   * @default 0, any free port
   */
  readonly port?: number | undefined;
  /**
   * The service's clock, in milliseconds since the epoch. It dates the logs, ages the keys and says
   * what a lagging read can see.
   *
   * @default Date.now
   */
  readonly now?: (() => number) | undefined;
  /**
   * The service's timer: calls back after some milliseconds, and returns what cancels it. With one
   * of your own, slow answers and late commits come when you say so.
   *
   * @default setTimeout
   */
  readonly after?: Clock["after"] | undefined;
  /**
   * How long a key is remembered from its first request on, in milliseconds. After that it is a new
   * key, and the effect happens again.
   *
   * @default 86_400_000
   */
  readonly keyMemoryMs?: number | undefined;
  /**
   * Numbers from 0 up to 1, for the effects' ids. With a seeded one the ids repeat.
   *
   * @default Math.random
   */
  readonly random?: (() => number) | undefined;
}

export interface FaultyService {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Every write that arrived. Live, append-only, frozen entries. */
  readonly arrivals: readonly Arrival[];
  /** Every read that arrived. Live, append-only, frozen entries. */
  readonly reads: readonly ReadArrival[];
  /** Everything that took effect. Live, append-only, frozen entries. */
  readonly effects: readonly LoggedEffect[];
  /** The next writes get these faults, in this order. Added to those already planned. */
  plan(...faults: readonly Fault[]): void;
  /** Every write for which no fault is planned gets this one; `undefined` takes it back. */
  always(fault: Fault | undefined): void;
  /** The next reads get these faults, in this order. */
  planRead(...faults: readonly ReadFault[]): void;
  /** Every read for which no fault is planned gets this one; `undefined` takes it back. */
  alwaysRead(fault: ReadFault | undefined): void;
  /** Delivers now what a late or slow fault still holds back from the service. Returns how many. */
  commitLate(): number;
  /** A client of one class, for the `run` and `readState` of a tool. */
  client(toolClass: ToolClass, options?: ServiceClientOptions): ServiceClient;
  /** Drops all connections and everything still to come. Safe to call twice. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
