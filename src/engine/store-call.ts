/**
 * The ways to ask the store: for an answer in time, whatever it is; before anything was sent, when no answer in
 * time is a clear error; and after a send, when what is known must not be lost and the store is asked until it answers.
 *
 * @module
 */

import { isHoldfireError, StoreUnavailableError } from "../errors.ts";
import { type Clock, type InTime, sleep, withTimeLimit } from "../lang/clock.ts";
import type { StopSignal } from "../lang/stop.ts";
import type { Ledger, Moved } from "../ledger/ledger.ts";
import type { ListQuery, Page } from "../ledger/store.ts";
import type { Events } from "../observe/events.ts";
import type { Timing } from "./define/settings.ts";

/** The part of the engine that asks. */
interface Asking {
  readonly clock: Clock;
  readonly timing: Pick<Timing, "storeTimeoutMs">;
  readonly callLeftMs: (() => number) | undefined;
  readonly events: Events;
}

/** The store's answer, if it comes within its time limit, and within `leftMs` where any of it is left. */
export function inStoreTime<T>(
  { clock, timing: { storeTimeoutMs }, callLeftMs }: Omit<Asking, "events">,
  asked: Promise<T>,
  leftMs: number = callLeftMs?.() ?? 0,
): Promise<InTime<T>> {
  const ms = leftMs > 0 ? Math.min(leftMs, storeTimeoutMs) : storeTimeoutMs;
  return withTimeLimit(clock, ms, asked);
}

/**
 * The same engine, in which the store gets no more time than the call has left. For what comes before a send. Once the time is
 * used up it gets its full time: what is asked then is not the call, but what became of it.
 */
export const withinDeadline = <E extends Asking>(engine: E, callLeftMs: () => number): E => ({
  ...engine,
  callLeftMs,
});

/** The store's answer, or a clear error: nothing has been sent yet. */
export async function askStore<T>(engine: Asking, step: string, asked: Promise<T>): Promise<T> {
  const inTime = await inStoreTime(engine, asked);
  if (inTime.tag === "done") return inTime.value;
  const error = inTime.tag === "failed" ? inTime.error : undefined;
  // A store that was given something it cannot use says so itself.
  if (isHoldfireError(error)) throw error;
  engine.events.emit("store", () => ({ status: "error", step, error }));
  throw new StoreUnavailableError(step, error);
}

/** The part of the engine that lists. */
interface Listing extends Asking {
  readonly ledger: Ledger;
  readonly tenant: string;
}

/** A page of this tenant's records. Those that cannot be read are told, and hide no others. */
export async function listRecords(
  engine: Listing,
  query: Omit<ListQuery, "tenant">,
  step = "list",
): Promise<Page> {
  const { ledger, tenant, events } = engine;
  const page = await askStore(engine, step, ledger.store.list({ ...query, tenant }));
  for (const id of page.unreadable ?? []) {
    events.emit("store", () => ({ status: "unreadable", tenant, id }));
  }
  return page;
}

/** The same where one that is left out would make the answer untrue: then there is none. */
export async function listEveryRecord(
  engine: Listing,
  query: Omit<ListQuery, "tenant">,
  step = "list",
): Promise<Page> {
  const page = await listRecords(engine, query, step);
  if (page.unreadable) {
    const damaged = `The ledger's records of these operations are damaged: ${page.unreadable.join(", ")}.`;
    throw new StoreUnavailableError("damaged_record", new Error(damaged));
  }
  return page;
}

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;

export type Persist = (move: () => Promise<Moved>) => Promise<Moved | "closed">;

/** Stops trying when `closed` fires: the operation is then open in the ledger, and read later. */
export function createPersist(clock: Clock, timeoutMs: number, closed: StopSignal): Persist {
  return async (move) => {
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      const inTime = await withTimeLimit(clock, timeoutMs, move());
      if (inTime.tag === "done") return inTime.value;
      if ((await sleep(clock, waitMs, closed)) === "woken") return "closed";
    }
  };
}
