/**
 * What the tests of the owned clients share: a holdfire that does not wait long, and a count of what
 * arrived.
 *
 * @module
 */

import { onTestFinished } from "vitest";
import { createHoldfire, type Holdfire, type HoldfireOptions } from "../../../src/create.ts";
import type { EventName, HoldfireEvents } from "../../../src/observe/events.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import {
  type Answer,
  type CountingServer,
  type Failure,
  startCounting,
} from "../../servers/counting-server.ts";
import { shortenPauses, timeOutOnArrival } from "./client-timers.ts";

export function openHoldfire(options: Partial<HoldfireOptions> = {}): Holdfire {
  const hf = createHoldfire({
    store: memoryStore({ forgets: "accepted" }),
    retry: { minDelayMs: 1, maxDelayMs: 1 },
    ...options,
  });
  onTestFinished(() => hf.close());
  return hf;
}

/** The events of this name from now on; of this code alone, if one is given. */
export function heard<N extends EventName>(
  hf: Holdfire,
  name: N,
  code?: string,
): HoldfireEvents[N][] {
  const events: HoldfireEvents[N][] = [];
  hf.on(name, (event) => {
    if (code === undefined || ("code" in event && event.code === code)) events.push(event);
  });
  return events;
}

/** A service that fails in this way; no client waits for it longer than it must. */
export async function serve(failure: Failure | Answer): Promise<CountingServer> {
  const server = await startCounting(failure);
  shortenPauses(4_000);
  if (failure === "hang") server.onArrival(timeOutOnArrival(server.patienceMs));
  onTestFinished(() => server.close());
  return server;
}

/** How many requests arrived for one call that is to fail. */
export async function count(
  failure: Failure | Answer,
  call: (server: CountingServer) => PromiseLike<unknown>,
): Promise<number> {
  const server = await serve(failure);
  let error: unknown;
  await call(server).then(undefined, (thrown: unknown) => {
    error = thrown ?? new Error("nothing");
  });
  if (error === undefined) throw new Error("The call did not fail.");
  return server.arrivals.length;
}

/** A call made by a keyed tool, which may fire `attempts` times. */
export function fire(
  hf: Holdfire,
  attempts: number,
  call: (key: string) => unknown,
): Promise<unknown> {
  const tool = hf.tool({
    name: "call",
    kind: "write",
    keyed: { forMs: 3_600_000 },
    attempts,
    run: async (_: object, { key }) => void (await call(key)),
  });
  return tool({}, { scope: "test" });
}
