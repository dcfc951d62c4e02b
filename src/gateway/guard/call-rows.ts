/**
 * The calls of a thread whose answer the host has not received, and for a while those whose answer it has. The same
 * call again is one of these, or a new one.
 *
 * They are kept in the ledger, in a row for each thread, tool and intent. Which operation a call is in the ledger goes
 * by its key.
 *
 * @module
 */

import type { Engine } from "../../engine/engine.ts";
import { askStore } from "../../engine/store-call.ts";
import { StoreUnavailableError } from "../../errors.ts";
import { digestText } from "../../key/digest.ts";
import type { LaneRecord, StoredLane } from "../../ledger/store.ts";

/** A call in a row: one ticket of the lane record that the row is. The ticket's `until` is `at`, its `id` the rest. */
export interface StoredCall {
  /** The key of its operation. */
  readonly key: string;
  /** The gateway that made it, or has taken it over. */
  readonly gateway: string;
  /**
   * `received`: the host has its answer, and it was a success. `forgotten`: the answer was an error that left no
   * record, and the host took it back afterwards; made again, it would be sent again.
   */
  readonly state: "unreceived" | "forgotten" | "received";
  /** When it came to be so, on the ledger's clock. */
  readonly at: number;
}

export type Edit = (calls: readonly StoredCall[]) => readonly StoredCall[];

/**
 * A row is no lane of writes: it uses a lane record of the ledger as storage, since that is named, changed by
 * compare-and-swap and seen by all processes. Its queue is the list of calls, and nothing waits in it.
 */
export interface CallRows {
  /** Changes the row, and returns it as it is now. `edit` may be asked several times. */
  change(row: string, edit: Edit): Promise<readonly StoredCall[]>;
}

/** No lane of a user's: it has a control character. */
const ROW = "\u001ecall ";
const MOST_TRIES = 32;

/** The row of a call. `intent` is its canonical text. */
export const rowName = (thread: string, tool: string, intent: string): string =>
  ROW + digestText("gateway-call", thread, tool, intent);

export function callRows(engine: Engine): CallRows {
  const { ledger, tenant } = engine;
  const ask = <T>(asked: Promise<T>): Promise<T> => askStore(engine, "call", asked);
  return {
    async change(row, edit) {
      let found: StoredLane | undefined;
      // Most calls are made for the first time: there is no row yet, and that need not be read first.
      let isKnown = edit(NONE).length === 0;
      if (isKnown) found = await ask(ledger.readLane(tenant, row));
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const before = found ? callsIn(found.lane) : NONE;
        const calls = edit(before);
        if (isKnown && (calls === before || (!found && calls.length === 0))) return calls;
        const lane = calls.length > 0 ? { queue: calls.map(ticketOf) } : undefined;
        const change = { name: row, expect: found?.version ?? 0, lane };
        if (await ask(ledger.changeLane(tenant, change))) return calls;
        found = await ask(ledger.readLane(tenant, row));
        isKnown = true;
      }
      throw new StoreUnavailableError("call", undefined);
    },
  };
}

const NONE: readonly StoredCall[] = [];
const SEPARATOR = "\u001f";

const ticketOf = ({ key, gateway, state, at }: StoredCall) => ({
  id: [key, gateway, state].join(SEPARATOR),
  until: at,
});

const callsIn = (lane: LaneRecord): readonly StoredCall[] =>
  lane.queue.map(({ id, until }) => {
    const [key = "", gateway = "", written] = id.split(SEPARATOR);
    const state = written === "received" || written === "forgotten" ? written : "unreceived";
    return { key, gateway, state, at: until };
  });
