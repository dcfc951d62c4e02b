/**
 * A faulty service: a real HTTP server on loopback that loses replies on demand, and logs what
 * arrived and what took effect, so that a test compares what a tool says with what happened.
 *
 * Subpath export `"holdfire/testing"`.
 *
 * @module
 */

import { once } from "node:events";
import { createServer } from "node:http";
import { InvalidInputError } from "../errors.ts";
import { type Clock, systemClock } from "../lang/clock.ts";
import { createFaultPlan } from "./faulty-service/apply-fault.ts";
import {
  createClient,
  type ServiceClient,
  type ServiceClientOptions,
} from "./faulty-service/client.ts";
import { createKeyMemory } from "./faulty-service/execute.ts";
import { checkFault, checkReadFault, type Fault, type ReadFault } from "./faulty-service/faults.ts";
import { handle, type ServiceParts } from "./faulty-service/handle.ts";
import {
  type Arrival,
  createLogs,
  type LoggedEffect,
  type ReadArrival,
} from "./faulty-service/logs.ts";
import { portOf } from "./faulty-service/port.ts";
import { errorAnswer, play, send } from "./faulty-service/reply.ts";
import { createTimers } from "./faulty-service/timers.ts";
import type { ToolClass } from "./faulty-service/tool-class.ts";

export type {
  CreateOptions,
  EffectQuery,
  ReadOptions,
  RecordBody,
  ServiceAnswerError,
  ServiceClient,
  ServiceClientOptions,
} from "./faulty-service/client.ts";
export { type Fault, faults, type ReadFault, readFaults } from "./faulty-service/faults.ts";
export type { Arrival, EffectBody, LoggedEffect, ReadArrival } from "./faulty-service/logs.ts";
export { closedPort } from "./faulty-service/port.ts";
export { TOOL_CLASSES, type ToolClass } from "./faulty-service/tool-class.ts";

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

const DAY_MS = 86_400_000;

/**
 * Starts a service on 127.0.0.1 that can be told to fail.
 *
 * @example
 * ```ts
 * const service = await startFaultyService();
 * service.plan(faults.commitThenReset());
 * await service.client("keyed").create({ amount: 400 }, { key: "k1" }).catch(() => {});
 * service.effects.length; //=> 1
 * await service.close();
 * ```
 */
export async function startFaultyService(
  options: FaultyServiceOptions = {},
): Promise<FaultyService> {
  const { port = 0, now = systemClock.now, after = systemClock.after } = options;
  const { keyMemoryMs = DAY_MS, random = Math.random } = options;
  if (!(keyMemoryMs >= 0)) {
    throw new InvalidInputError("keyMemoryMs", "must be milliseconds, not negative.");
  }
  const parts: ServiceParts = {
    now,
    logs: createLogs(now, random),
    keys: createKeyMemory(now, keyMemoryMs),
    timers: createTimers(after),
    writeFaults: createFaultPlan<Fault>(checkFault),
    readFaults: createFaultPlan<ReadFault>(checkReadFault),
  };
  const { logs, timers, writeFaults, readFaults } = parts;

  const server = createServer((request, response) => {
    // A client that leaves in mid-reply is the point of half of the faults, not an error.
    response.on("error", () => {});
    handle(request, parts)
      // The client left while it was sending, or an injected function threw.
      .catch(() => send(errorAnswer(500, "broken")))
      .then((reply) => play(reply, response, timers))
      .catch(() => response.destroy());
  });
  // An idle connection closed by us could cross with the next request: a fault that was not planned.
  server.keepAliveTimeout = 0;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");

  const stop = async (): Promise<void> => {
    timers.stop();
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  let stopping: Promise<void> | undefined;
  const close = (): Promise<void> => {
    stopping ??= stop();
    return stopping;
  };

  const listening = portOf(server);
  const url = `http://127.0.0.1:${listening}`;
  return {
    url,
    port: listening,
    arrivals: logs.arrivals,
    reads: logs.reads,
    effects: logs.effects,
    plan: (...faults) => writeFaults.add(faults),
    always: writeFaults.always,
    planRead: (...faults) => readFaults.add(faults),
    alwaysRead: readFaults.always,
    commitLate: timers.commitAll,
    client: (toolClass, clientOptions) => createClient(url, toolClass, clientOptions),
    close,
    [Symbol.asyncDispose]: close,
  };
}
