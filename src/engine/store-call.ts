/**
 * Asks the ledger while nothing has been sent yet: no answer in time is a clear error.
 *
 * @module
 */

import { isHoldfireError, StoreUnavailableError } from "../errors.ts";
import { withTimeLimit } from "../lang/time-limit.ts";
import type { Engine } from "./engine.ts";

/** The store's answer, or a clear error: nothing has been sent yet. */
export async function askStore<T>(engine: Engine, step: string, asked: Promise<T>): Promise<T> {
  const inTime = await withTimeLimit(engine.clock, engine.timing.storeTimeoutMs, asked);
  if (inTime.tag === "done") return inTime.value;
  const error = inTime.tag === "failed" ? inTime.error : undefined;
  // A store that was given something it cannot use says so itself.
  if (isHoldfireError(error)) throw error;
  engine.events.emit("store", () => ({ status: "error", step, error }));
  throw new StoreUnavailableError(step, error);
}
