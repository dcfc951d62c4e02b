/**
 * Makes moves on a store: decides with `apply`, writes by compare-and-swap, and decides again when
 * another process has changed the record first.
 *
 * @module
 */

import type { Clock, Instant } from "../lang/clock.ts";
import { laneAlone, NO_LANE } from "./lane.ts";
import { laneCache } from "./lane-cache.ts";
import { type Applied, apply } from "./moves/apply.ts";
import type { Move, Refusal } from "./moves/moves.ts";
import { madeBy } from "./moves/record-edits.ts";
import type { Stored } from "./record.ts";
import type { LaneChange, Store, StoredLane } from "./store.ts";
import { type LedgerClock, storeClock } from "./store-clock.ts";
import { swapper } from "./swapper.ts";
import { lossWatch, type Suspicion } from "./witness/loss-watch.ts";
import type { Witness } from "./witness/witness.ts";

/** Names one operation. */
export interface Ref {
  readonly tenant: string;
  readonly id: string;
}

export type Moved =
  | {
      readonly tag: "moved";
      /** The record as it is now; `undefined` after a withdrawal. */
      readonly stored: Stored | undefined;
      readonly report?: "duplicate" | "corrected" | undefined;
    }
  | { readonly tag: "refused"; readonly why: Refusal; readonly stored: Stored | undefined };

/** Of a move that takes a lane: the record was as expected, the lane had changed. Nothing was written. */
export interface LaneChanged {
  readonly tag: "lane";
  readonly lane: StoredLane | undefined;
  /** The record, as a guess for the next try. */
  readonly stored: Stored | undefined;
}

export type { LedgerClock } from "./store-clock.ts";

export interface Ledger {
  readonly store: Store;
  readonly clock: LedgerClock;
  isOpen(): boolean;
  /** Set when the store has lost data, until a person trusts it again. */
  suspicion(): Suspicion | undefined;
  /** A person declares the ledger trustworthy as it is now. */
  trust(by: string): Promise<void>;
  /** Opens the store once; later calls wait for the same opening. A failed opening is tried again. */
  open(): Promise<void>;
  /**
   * `guess` is the record as the caller last saw it, which saves a read. Left out, the guess is that there is
   * none. `asked` is now, where the caller has just looked at the clock.
   */
  move(ref: Ref, move: Move, guess?: Stored, lane?: undefined, asked?: Instant): Promise<Moved>;
  move(
    ref: Ref,
    move: Move,
    guess: Stored | undefined,
    lane: LaneChange | undefined,
    asked?: Instant,
  ): Promise<Moved | LaneChanged>;
  read(ref: Ref): Promise<Stored | undefined>;
  /** The lane as this process last saw it: good enough to try a write, not to refuse one. */
  guessLane(tenant: string, name: string): StoredLane | undefined;
  /** `undefined` if no operation is in it. */
  readLane(tenant: string, name: string): Promise<StoredLane | undefined>;
  /** Changes a lane alone. Returns false if it had changed and nothing was written. */
  changeLane(tenant: string, change: LaneChange): Promise<boolean>;
}

/** The moves that only the owner of an open operation makes. Not `renew`: it may meet the withdrawal of its own claim. */
const OWNER_MOVES = new Set<Move["move"]>(["settle", "note"]);

export interface LedgerOptions {
  readonly app?: string | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly witness: Witness;
  /** Called once, when the store is found to have lost data. */
  readonly onSuspect: (why: string) => void;
  readonly onWitnessError: (error: unknown) => void;
  /**
   * Whether settling leaves the lane in the same move. If not, the settled record frees it.
   * @default true
   */
  readonly leavesLanes?: boolean | undefined;
}

export function createLedger({
  app,
  store,
  clock,
  witness,
  onSuspect,
  onWitnessError,
  leavesLanes = true,
}: LedgerOptions): Ledger {
  let opening: Promise<void> | undefined;
  let opened = false;
  const time = storeClock(clock);
  const { timed } = time;
  const lanes = laneCache(readLane);
  const losses = lossWatch({ store, witness, onSuspect, onWitnessError });
  const swap = swapper({ store, clock, time, lanes, losses });

  async function readLane(tenant: string, name: string): Promise<StoredLane | undefined> {
    const { stored } = await timed(() => store.readLane(tenant, name));
    lanes.remember(tenant, name, stored ?? NO_LANE);
    return stored;
  }

  function answerUnwritten(
    applied: Exclude<Applied, { tag: "write" }>,
    stored: Stored | undefined,
    { move }: Move,
  ): Moved {
    if (applied.tag === "same") return { tag: "moved", stored };
    // A claimed record is removed by its own withdrawal alone: if an owner's record is gone, the store has lost it.
    if (applied.why === "absent" && OWNER_MOVES.has(move)) {
      losses.doubt("the record of an open operation is gone");
    }
    return { tag: "refused", why: applied.why, stored };
  }

  // Decides on what is known, and writes; again as often as another process was faster. A guess may be used to try a write,
  // but a refusal must rest on the store's answer.
  async function makeMove(
    { tenant, id }: Ref,
    move: Move,
    guess?: Stored,
    lane?: LaneChange,
    asked?: Instant,
  ): Promise<Moved | LaneChanged> {
    let stored = guess;
    let isCertain = false;
    let laneTries = 0;
    for (let at = asked; ; at = undefined) {
      const applied = apply(stored, move, time.said());
      if (applied.tag !== "write") {
        if (isCertain) return answerUnwritten(applied, stored, move);
        ({ stored } = await timed(() => store.read(tenant, id)));
        isCertain = true;
        continue;
      }
      const { record, lease, report } = stored ? applied : madeBy(app, applied);
      const { version: expect = 0, stamp } = stored ?? {};
      const before = !lane && leavesLanes ? stored?.record : undefined;
      const hasLane = before?.resource !== undefined;
      const change = hasLane ? await lanes.changeWith(before, record, laneTries) : lane;
      const swapped = await swap({ tenant, id, expect, stamp, record, lease, lane: change }, at);
      if (swapped.ok) {
        const { version, leaseUntil, stamp } = swapped;
        return { tag: "moved", report, stored: record && { record, version, leaseUntil, stamp } };
      }
      // If both had changed, the record decides first: it may say that no lane is needed.
      if (!swapped.lane || (swapped.current?.version ?? 0) !== expect) {
        stored = swapped.current;
        isCertain = true;
      } else if (lane) return { tag: "lane", lane: swapped.lane, stored };
      else laneTries += 1;
    }
  }

  return {
    store,
    clock: time,

    isOpen: () => opened,
    suspicion: losses.suspicion,

    async trust(by) {
      await losses.trust(await timed(() => store.open()), by);
    },

    open() {
      opening ??= losses
        .compare(() => timed(() => store.open()))
        .then(
          () => {
            opened = true;
          },
          (error: unknown) => {
            opening = undefined;
            throw error;
          },
        );
      return opening;
    },

    // Without a lane of the caller's, none can have changed.
    move: makeMove as Ledger["move"],

    async read({ tenant, id }) {
      return (await timed(() => store.read(tenant, id))).stored;
    },

    guessLane: lanes.get,
    readLane,

    changeLane: async (tenant, lane) => (await swap(laneAlone(tenant, lane))).ok,
  };
}
