/**
 * A model server, a holdfire and a clock that stands still between attempts: what a test of an owned
 * client needs.
 *
 * @module
 */

import { onTestFinished } from "vitest";
import { createHoldfire, type Holdfire, type HoldfireOptions } from "../../../src/create.ts";
import type { Store } from "../../../src/ledger/store.ts";
import { memoryStore } from "../../../src/stores/memory.ts";
import { type VirtualClock, virtualClock } from "../../engine/virtual-clock.ts";
import { type Act, type ModelServer, startModelServer } from "../../servers/model-server.ts";
import { timeOutOnArrival } from "./client-timers.ts";

export interface Stage {
  readonly server: ModelServer;
  readonly clock: VirtualClock;
  readonly store: Store;
  readonly hf: Holdfire;
  /** Another holdfire on the same store, as another process would have it. */
  another(options?: Partial<HoldfireOptions>): Holdfire;
  /** Lets time pass until the promise has settled. */
  pass<T>(promise: PromiseLike<T>): Promise<T>;
  /** The same for one that must fail; gives the error. */
  fail(promise: PromiseLike<unknown>): Promise<unknown>;
}

export { listen } from "../../observe/heard.ts";

export async function openStage(options: Partial<HoldfireOptions> = {}): Promise<Stage> {
  const server = await startModelServer();
  onTestFinished(() => server.close());
  server.onArrival(timeOutOnArrival(HANG_MS));
  const clock = virtualClock();
  const store = options.store ?? memoryStore({ now: clock.now, forgets: "accepted" });
  const another = (more: Partial<HoldfireOptions> = {}): Holdfire =>
    createHoldfire({
      surroundings: { clock, random: () => 0.5 },
      ...options,
      ...more,
      store: more.store ?? store,
    });
  const pass = <T>(promise: PromiseLike<T>): Promise<T> =>
    clock.run(Promise.resolve(promise), () => true);
  return {
    server,
    clock,
    store,
    hf: another(),
    another,
    pass,
    fail: (promise) =>
      pass(
        promise.then(
          () => Promise.reject(new Error("It was expected to fail.")),
          (error: unknown) => error,
        ),
      ),
  };
}

/** A client's timeout of this length ends when its request has arrived, and not before. */
export const HANG_MS = 7_777;

/** The three ways in which a call always fails, and the client's timeout that ends each. */
export const FAILURES: readonly (readonly [name: string, act: Act, timeoutMs: number])[] = [
  ["a 503", { act: "status", status: 503 }, 10_000],
  ["a reset", { act: "reset" }, 10_000],
  ["no answer", { act: "hang" }, HANG_MS],
];
