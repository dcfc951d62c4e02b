/**
 * Waits for a record that someone else is to change, a process that owns the operation or a person who answers: the
 * pauses between two reads of the ledger, each of which ends early where the store can tell of a change.
 *
 * @module
 */

import { sleep } from "../../../lang/clock.ts";
import { createStop, type StopSignal } from "../../../lang/stop.ts";
import type { Ref } from "../../../ledger/ledger.ts";
import type { Stored } from "../../../ledger/record.ts";
import type { Engine } from "../../engine.ts";
import { about, type Execution } from "../../operation/operation.ts";
import { inStoreTime } from "../../store-call.ts";

const FIRST_POLL_MS = 25;
const LONGEST_POLL_MS = 1_000;

/**
 * Until the record may have changed, `stopped` aborts, or the pause is over. It grows with the number of tries before it, and
 * takes `mostMs` at most.
 */
export async function waitForRecord(
  { tenant, id }: Ref,
  tries: number,
  mostMs: number,
  stopped: StopSignal | undefined,
  { ledger, clock, random }: Engine,
): Promise<void> {
  if (stopped?.aborted) return;
  const poll = Math.min(FIRST_POLL_MS * 2 ** Math.min(tries, 10), LONGEST_POLL_MS);
  const { signal, abort: wake } = createStop();
  const unwatch = ledger.store.watch?.(tenant, id, wake);
  stopped?.addEventListener("abort", wake, { once: true });
  await sleep(clock, Math.min(poll * (0.5 + random() / 2), mostMs), signal);
  stopped?.removeEventListener("abort", wake);
  unwatch?.();
}

/** False when no caller waits any more, or the time is up. `id` is the operation waited for: this one, or another. */
export async function waitForChange(
  execution: Execution,
  tries: number,
  engine: Engine,
  id: string = execution.operation.ref.id,
  longestMs: number = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  const { tenant } = execution.operation.ref;
  const left = Math.min(execution.remainingMs(), longestMs);
  if (left <= 0 || execution.stopped.aborted) return false;
  await waitForRecord({ tenant, id }, tries, left, execution.stopped, engine);
  return !execution.stopped.aborted;
}

/** Tells that a call waits for an operation that another process owns. */
export const emitWaiting = ({ operation }: Execution, { events }: Engine): void =>
  events.emit("waiting", () => about(operation));

/** The record once the process that took the operation over has settled it, or as it is when the time is up. */
export async function waitForOwner(
  execution: Execution,
  known: Stored | undefined,
  engine: Engine,
): Promise<Stored | undefined> {
  let stored = known;
  if (stored?.record.state.tag === "claimed") emitWaiting(execution, engine);
  for (let tries = 0; stored?.record.state.tag === "claimed"; tries += 1) {
    if (!(await waitForChange(execution, tries, engine))) return stored;
    const read = await inStoreTime(engine, engine.ledger.read(execution.operation.ref));
    if (read.tag === "done") stored = read.value;
  }
  return stored;
}
