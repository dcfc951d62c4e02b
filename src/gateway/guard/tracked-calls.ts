/**
 * The calls that this gateway tracks: whether the host has received the answer of each.
 *
 * *Received*: the answer left within the host's patience, no cancellation of it came, and then the host sent a request
 * other than a ping and other than the same call, or ended its input in good order; after an answer with an error also
 * the same call. Then the call is over, and the same call again is a new one. Until then it is the same one.
 *
 * What is known here is written down in the ledger, one change of a row after the other.
 *
 * @module
 */

import type { Engine } from "../../engine/engine.ts";
import { askStore } from "../../engine/store-call.ts";
import { putBounded } from "../../lang/bounded.ts";
import type { Id } from "../pipe/message.ts";
import { createTurns } from "../turns.ts";
import type { CallRows, Edit, StoredCall } from "./call-rows.ts";
import type { Presence } from "./presence.ts";

/** A call, and what this gateway knows of how its answer was received. */
export interface TrackedCall {
  /** Where the ledger keeps it; see `CallRows`. */
  readonly row: string;
  readonly key: string;
  /** Made before, by this gateway or by another: it may have been sent. */
  isKnown: boolean;
  /** `answered`: its request is over, and the answer has perhaps not arrived. */
  phase: "open" | "answered" | "received";
  /** Its outcome is settled: once received, it is over. */
  isSettled: boolean;
  /** It was done, by a tool that is said to write, or is a repeat that a person refused: a repeat soon after is asked about. */
  isDoneWrite: boolean;
  /** The server has answered it with an error: whoever makes it again, having that answer, wants it tried again. */
  isFailure: boolean;
  /** Once this is received, the record of this operation is removed from the ledger. */
  operationToForget: string | undefined;
  /** That was asked of the ledger: made again under its key, the call would be sent again. */
  isForgotten: boolean;
  /** The request that was answered last. */
  request: Id | undefined;
  /** When it was received, on the ledger's clock. */
  receivedAt: number;
}

export interface TrackedCalls {
  /** Runs what concerns one row, one after the other. */
  inTurn<T>(row: string, work: () => Promise<T>): Promise<T>;
  /** Whether a call of this row is under way. */
  isBusy(row: string): boolean;
  /**
   * The call that this one is, or a new one. `isTooOld`: whether one that was received then no longer counts.
   * `isSecond`: it came while the other was under way, on a pipe that still works.
   */
  find(
    row: string,
    isTooOld: (receivedAt: number) => boolean,
    isSecond: boolean,
  ): Promise<TrackedCall>;
  /** Another call takes its place. */
  replace(row: string, key: string): Promise<TrackedCall>;
  /** Its request is over. `inTime`: an answer has left, within the host's patience. */
  noteAnswer(tracked: TrackedCall, request: Id, inTime: boolean): void;
  /** The host has sent a request; `row` if it is a call. Resolves when the ledger has what follows from it. */
  requested(row: string | undefined): Promise<void>;
  cancelled(request: Id): void;
  /** Whether an answer waits to be received. */
  awaitsReceipt(): boolean;
  /** Resolves when the ledger has all that is known. */
  written(): Promise<void>;
}

/** Rows that are remembered although nothing is open in them. */
const MOST = 1_000;

export function trackCalls(rows: CallRows, presence: Presence, engine: Engine): TrackedCalls {
  const known = new Map<string, TrackedCall>();
  /** Their answer has left in time: another request of the host shows that it was received. */
  const awaitingReceipt = new Set<TrackedCall>();
  /** By the request that was answered: a cancellation may still come. */
  const byRequest = new Map<Id, TrackedCall>();
  const turns = createTurns();
  const { clock } = engine.ledger;

  const remember = (tracked: TrackedCall): TrackedCall => {
    known.delete(tracked.row);
    known.set(tracked.row, tracked);
    // The ledger has them, too.
    for (const [row, one] of known) {
      if (known.size <= MOST) break;
      if (one.phase !== "open" && !awaitingReceipt.has(one)) known.delete(row);
    }
    return tracked;
  };
  const fresh = (key: string): StoredCall => ({
    key,
    gateway: presence.id,
    state: "unreceived",
    at: clock.latest(),
  });
  const begin = (row: string, key: string, isKnown: boolean): TrackedCall => ({
    row,
    key,
    isKnown,
    phase: "open",
    isSettled: false,
    isDoneWrite: false,
    isFailure: false,
    operationToForget: undefined,
    isForgotten: false,
    request: undefined,
    receivedAt: 0,
  });

  /** What a dead gateway has left, if anything. */
  async function leftIn(calls: readonly StoredCall[]): Promise<StoredCall | undefined> {
    for (const call of calls) {
      if (call.state === "received") continue;
      if (call.gateway === presence.id || !(await presence.isAlive(call.gateway))) return call;
    }
    return undefined;
  }

  async function take(row: string, { key, state }: StoredCall): Promise<TrackedCall> {
    const own = { ...fresh(key), state };
    await presence.begin();
    await rows.change(row, (there) => [
      ...there.filter((call) => call.key !== key && call.state !== "received"),
      own,
    ]);
    const isForgotten = state === "forgotten";
    const ended = { isSettled: isForgotten, isFailure: isForgotten, isForgotten };
    return remember({ ...begin(row, key, true), ...ended });
  }

  const editTo = (tracked: TrackedCall, state: StoredCall["state"] | "over"): Edit => {
    const { key, receivedAt } = tracked;
    const own = { ...fresh(key), at: receivedAt || clock.latest() };
    return (calls) => {
      const others = calls.filter((call) => call.key !== key);
      return state === "over" ? others : [...others, { ...own, state }];
    };
  };

  function forget(id: string): void {
    const forgetting = engine.ledger.move({ tenant: engine.tenant, id }, { move: "forget" });
    // It stays, and a person may settle it.
    void turns.run(id, () => askStore(engine, "forget", forgetting)).catch(() => {});
  }

  async function write(row: string, edit: Edit): Promise<void> {
    const writing = turns.run(row, () => rows.change(row, edit));
    // Not written, it counts as not received: nothing is fired that should not be.
    await writing.catch(() => {});
  }

  /** It is received; returns what is to be written of it. */
  function receive(tracked: TrackedCall): Edit | undefined {
    awaitingReceipt.delete(tracked);
    if (!tracked.isSettled) return undefined;
    tracked.phase = "received";
    tracked.receivedAt = clock.latest();
    if (tracked.operationToForget !== undefined) {
      forget(tracked.operationToForget);
      tracked.isForgotten = true;
    }
    if (!tracked.isDoneWrite && known.get(tracked.row) === tracked) known.delete(tracked.row);
    return editTo(tracked, tracked.isDoneWrite ? "received" : "over");
  }

  return {
    inTurn: turns.run,
    isBusy: turns.isBusy,
    async find(row, isTooOld, isSecond) {
      const last = known.get(row);
      const isOver = last && awaitingReceipt.has(last) && (isSecond || last.isFailure);
      const edit = isOver ? receive(last) : undefined;
      if (edit) await rows.change(row, edit);
      const mine = known.get(row);
      if (mine && !(mine.phase === "received" && isTooOld(mine.receivedAt))) {
        awaitingReceipt.delete(mine);
        mine.isKnown = true;
        if (mine.phase === "answered") mine.phase = "open";
        return mine;
      }
      await presence.begin();
      const made = fresh(engine.newId());
      if (!mine) {
        const calls = await rows.change(row, (there) => (there.length === 0 ? [made] : there));
        if (calls[0] === made) return remember(begin(row, made.key, false));
        const left = await leftIn(calls);
        if (left) return take(row, left);
        const done = calls.findLast((call) => call.state === "received" && !isTooOld(call.at));
        if (done) {
          const tracked = begin(row, done.key, true);
          const phase = "received" as const;
          return remember({ ...tracked, phase, isDoneWrite: true, receivedAt: done.at });
        }
      }
      await rows.change(row, (there) => [
        ...there.filter(({ state }) => state !== "received"),
        made,
      ]);
      return remember(begin(row, made.key, false));
    },
    replace: (row, key) => take(row, fresh(key)),
    noteAnswer(tracked, request, inTime) {
      // It was over before.
      if (tracked.phase === "received") return;
      remember(tracked);
      tracked.phase = "answered";
      tracked.request = request;
      awaitingReceipt.delete(tracked);
      if (!inTime) return;
      awaitingReceipt.add(tracked);
      putBounded(byRequest, request, tracked, MOST);
    },
    async requested(row) {
      const writing = [...awaitingReceipt].map((tracked) => {
        const edit = tracked.row === row ? undefined : receive(tracked);
        return edit && write(tracked.row, edit);
      });
      await Promise.all(writing);
    },
    cancelled(request) {
      const tracked = byRequest.get(request);
      if (!tracked || tracked.request !== request) return;
      const wasReceived = tracked.phase === "received";
      awaitingReceipt.delete(tracked);
      tracked.phase = "answered";
      // Another one may be in its place by now.
      if (!wasReceived || (known.get(tracked.row) ?? tracked).key !== tracked.key) return;
      remember(tracked);
      const state = tracked.isForgotten ? "forgotten" : "unreceived";
      void write(tracked.row, editTo(tracked, state));
    },
    awaitsReceipt: () => awaitingReceipt.size > 0,
    written: turns.idle,
  };
}
