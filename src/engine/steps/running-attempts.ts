/**
 * An attempt that was given up goes on until its `run` settles. As long as this process lives it says
 * so: nobody may take the end of a lease for the end of a request that can still be sent.
 *
 * @module
 */

import { withTimeLimit } from "../../lang/time-limit.ts";
import type { Engine } from "../engine.ts";
import type { Owned } from "./ownership.ts";

/** Notes that the attempt runs; the returned function says that it has ended. */
export function beginAttempt(id: string, n: number, engine: Engine): () => void {
  const runningAttempts = engine.runningAttempts.get(id) ?? new Set();
  engine.runningAttempts.set(id, runningAttempts.add(n));
  return () => {
    runningAttempts.delete(n);
    if (runningAttempts.size === 0) engine.runningAttempts.delete(id);
  };
}

/** Says at every third of a lease that the attempt still runs, until `running` settles. */
export function announceRunning(
  owned: Owned,
  n: number,
  running: Promise<unknown>,
  engine: Engine,
): void {
  const { leaseMs, operation } = owned;
  let over = false;
  let cancel = () => {};
  const beat = async (): Promise<void> => {
    // While the flight goes on, its lease says it.
    if (!owned.active) {
      const at = engine.ledger.clock.latest();
      const move = { move: "running", attempt: n, leaseMs, at } as const;
      const saying = engine.ledger.move(operation.ref, move);
      await withTimeLimit(engine.clock, engine.timing.storeTimeoutMs, saying);
    }
    if (!over && !engine.isClosed()) schedule();
  };
  const schedule = () => {
    cancel = engine.clock.after(leaseMs / 3, () => void beat(), true);
  };
  schedule();
  void running.finally(() => {
    over = true;
    cancel();
  });
}
