/**
 * The calls of this gateway that stand, and what the host has received of their answers.
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
import type { Id } from "../pipe/message.ts";
import type { Presence } from "./presence.ts";
import type { Edit, StandingCall, StandingCalls } from "./standing-calls.ts";

/** A call that stands, as this gateway knows it. */
export interface Standing {
  readonly row: string;
  readonly key: string;
  /** Made before, by this gateway or by another: it may have been sent. */
  isKnown: boolean;
  phase: "open" | "told" | "received";
  /** Its outcome is settled: once received, it is over. */
  isSettled: boolean;
  /** It was done, by a tool that is said to write, or is a repeat that a person refused: a repeat soon after is asked about. */
  isDoneWrite: boolean;
  /** The server has answered it with an error: whoever makes it again, having that answer, wants it tried again. */
  isFailure: boolean;
  /** The operation that leaves no record once this is received. */
  forgets: string | false;
  /** It has left none. */
  isForgotten: boolean;
  /** The request that was answered last. */
  request: Id | undefined;
  /** When it was received, on the ledger's clock. */
  receivedAt: number;
}

export interface StandingMemory {
  /** Runs what concerns one row, one after the other. */
  inTurn<T>(row: string, work: () => Promise<T>): Promise<T>;
  /** Whether a call of this row is under way. */
  isBusy(row: string): boolean;
  /**
   * The call that this one is, or a new one. `forgets`: whether one that was received then is forgotten by now.
   * `isSecond`: it came while the other was under way, on a pipe that stands.
   */
  find(row: string, forgets: (receivedAt: number) => boolean, isSecond: boolean): Promise<Standing>;
  /** Another call takes its place. */
  replace(row: string, key: string): Promise<Standing>;
  /** An answer has left. `inTime`: within the host's patience. */
  told(standing: Standing, request: Id, inTime: boolean): void;
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

export function standingMemory(
  rows: StandingCalls,
  presence: Presence,
  engine: Engine,
): StandingMemory {
  const known = new Map<string, Standing>();
  const told = new Set<Standing>();
  const answered = new Map<Id, Standing>();
  const turns = new Map<string, Promise<unknown>>();
  const { clock } = engine.ledger;

  function inTurn<T>(row: string, work: () => Promise<T>): Promise<T> {
    const before = turns.get(row) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine
      .catch(() => {})
      .then(() => {
        if (turns.get(row) === settled) turns.delete(row);
      });
    turns.set(row, settled);
    return mine;
  }

  const remember = (standing: Standing): Standing => {
    known.delete(standing.row);
    known.set(standing.row, standing);
    // The ledger has them, too.
    for (const [row, one] of known) {
      if (known.size <= MOST) break;
      if (one.phase !== "open" && !told.has(one)) known.delete(row);
    }
    return standing;
  };
  const fresh = (key: string): StandingCall => ({
    key,
    gateway: presence.id,
    state: "unreceived",
    at: clock.latest(),
  });
  const begin = (row: string, key: string, isKnown: boolean): Standing => ({
    row,
    key,
    isKnown,
    phase: "open",
    isSettled: false,
    isDoneWrite: false,
    isFailure: false,
    forgets: false,
    isForgotten: false,
    request: undefined,
    receivedAt: 0,
  });

  /** What a dead gateway has left, if anything. */
  async function leftIn(calls: readonly StandingCall[]): Promise<StandingCall | undefined> {
    for (const call of calls) {
      if (call.state === "received") continue;
      if (call.gateway === presence.id || !(await presence.isAlive(call.gateway))) return call;
    }
    return undefined;
  }

  async function take(row: string, { key, state }: StandingCall): Promise<Standing> {
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

  const editTo = (standing: Standing, state: StandingCall["state"] | "over"): Edit => {
    const { key, receivedAt } = standing;
    const own = { ...fresh(key), at: receivedAt || clock.latest() };
    return (calls) => {
      const others = calls.filter((call) => call.key !== key);
      return state === "over" ? others : [...others, { ...own, state }];
    };
  };

  function forget(id: string): void {
    const forgetting = engine.ledger.move({ tenant: engine.tenant, id }, { move: "forget" });
    // It stays, and a person may settle it.
    void inTurn(id, () => askStore(engine, "forget", forgetting)).catch(() => {});
  }

  async function write(row: string, edit: Edit): Promise<void> {
    const writing = inTurn(row, () => rows.change(row, edit));
    // Not written, it counts as not received: nothing is fired that should not be.
    await writing.catch(() => {});
  }

  /** It is received; returns what is to be written of it. */
  function receive(standing: Standing): Edit | undefined {
    told.delete(standing);
    if (!standing.isSettled) return undefined;
    standing.phase = "received";
    standing.receivedAt = clock.latest();
    if (standing.forgets !== false) forget(standing.forgets);
    standing.isForgotten ||= standing.forgets !== false;
    if (!standing.isDoneWrite && known.get(standing.row) === standing) known.delete(standing.row);
    return editTo(standing, standing.isDoneWrite ? "received" : "over");
  }

  return {
    inTurn,
    isBusy: (row) => turns.has(row),
    async find(row, forgets, isSecond) {
      const last = known.get(row);
      const isOver = last && told.has(last) && (isSecond || last.isFailure);
      const edit = isOver ? receive(last) : undefined;
      if (edit) await rows.change(row, edit);
      const mine = known.get(row);
      if (mine && !(mine.phase === "received" && forgets(mine.receivedAt))) {
        told.delete(mine);
        mine.isKnown = true;
        if (mine.phase === "told") mine.phase = "open";
        return mine;
      }
      await presence.begin();
      const made = fresh(engine.newId());
      if (!mine) {
        const calls = await rows.change(row, (there) => (there.length === 0 ? [made] : there));
        if (calls[0] === made) return remember(begin(row, made.key, false));
        const left = await leftIn(calls);
        if (left) return take(row, left);
        const done = calls.findLast((call) => call.state === "received" && !forgets(call.at));
        if (done) {
          const standing = begin(row, done.key, true);
          const phase = "received" as const;
          return remember({ ...standing, phase, isDoneWrite: true, receivedAt: done.at });
        }
      }
      await rows.change(row, (there) => [
        ...there.filter(({ state }) => state !== "received"),
        made,
      ]);
      return remember(begin(row, made.key, false));
    },
    replace: (row, key) => take(row, fresh(key)),
    told(standing, request, inTime) {
      // It was over before.
      if (standing.phase === "received") return;
      remember(standing);
      standing.phase = "told";
      standing.request = request;
      told.delete(standing);
      if (!inTime) return;
      told.add(standing);
      answered.delete(request);
      answered.set(request, standing);
      const [oldest] = answered.size > MOST ? answered.keys() : [];
      if (oldest !== undefined) answered.delete(oldest);
    },
    async requested(row) {
      const writing = [...told].map((standing) => {
        const edit = standing.row === row ? undefined : receive(standing);
        return edit && write(standing.row, edit);
      });
      await Promise.all(writing);
    },
    cancelled(request) {
      const standing = answered.get(request);
      if (!standing || standing.request !== request) return;
      const wasReceived = standing.phase === "received";
      told.delete(standing);
      standing.phase = "told";
      // Another one may stand in its place by now.
      if (!wasReceived || (known.get(standing.row) ?? standing).key !== standing.key) return;
      remember(standing);
      const state = standing.isForgotten ? "forgotten" : "unreceived";
      void write(standing.row, editTo(standing, state));
    },
    awaitsReceipt: () => told.size > 0,
    async written() {
      while (turns.size > 0) await Promise.allSettled(turns.values());
    },
  };
}
