/**
 * Starts the faulty service.
 *
 * @module
 */

import { once } from "node:events";
import { createServer } from "node:http";
import { InvalidInputError } from "../../errors.ts";
import { systemClock } from "../../lang/clock.ts";
import { errorAnswer } from "./answer.ts";
import { checkFault, checkReadFault } from "./check-fault.ts";
import { createClient } from "./client.ts";
import type { Fault } from "./fault.ts";
import { handle, type Inside } from "./handle.ts";
import { createKeyMemory } from "./key-memory.ts";
import { createLogs } from "./logs.ts";
import { createPlan } from "./plan.ts";
import { portOf } from "./port.ts";
import type { ReadFault } from "./read-fault.ts";
import { send } from "./reply.ts";
import type { FaultyService, FaultyServiceOptions } from "./service.ts";
import { createTimers } from "./timers.ts";
import { play } from "./wire.ts";

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
    throw new InvalidInputError("keyMemoryMs", "must be milliseconds, not negative");
  }
  const inside: Inside = {
    now,
    logs: createLogs(now, random),
    keys: createKeyMemory(now, keyMemoryMs),
    timers: createTimers(after),
    writeFaults: createPlan<Fault>(checkFault),
    readFaults: createPlan<ReadFault>(checkReadFault),
  };
  const { logs, timers, writeFaults, readFaults } = inside;

  const server = createServer((request, response) => {
    // A client that leaves in mid-reply is the point of half of the faults, not an error.
    response.on("error", () => {});
    handle(request, inside)
      // The client left while it was sending, or an injected function threw.
      .catch(() => send(errorAnswer(500, "broken")))
      .then((reply) => play(reply, response, timers))
      .catch(() => response.destroy());
  });
  // An idle connection closed by us could cross with the next request: a fault nobody planned.
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
