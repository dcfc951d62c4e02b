/**
 * Makes moves on a store: decides with `apply`, writes by compare-and-swap, and decides anew when
 * somebody was faster.
 *
 * @module
 */

import type { Clock } from "../lang/clock.ts";
import { together } from "../lang/coalesce.ts";
import { apply } from "./apply.ts";
import { laneAlone, NO_LANE } from "./lane.ts";
import { knownLanes } from "./lane-cache.ts";
import type { Move, Refusal } from "./moves.ts";
import type { Stored } from "./record.ts";
import type { Change, LaneChange, Store, StoredLane, Swapped } from "./store.ts";
import { type LedgerClock, storeClock } from "./store-clock.ts";
import { type Mark, suspicion, type Witness } from "./witness.ts";

/** Names one operation. */
export interface Ref {
  readonly tenant: string;
  readonly id: string;
}

export type Moved =
  | {
      readonly tag: "moved";
      /** What stands there now; `undefined` after a withdrawal. */
      readonly stored: Stored | undefined;
      readonly report?: "duplicate" | "corrected" | undefined;
    }
  | { readonly tag: "refused"; readonly why: Refusal; readonly stored: Stored | undefined }
  /** The record was as expected, the lane was not. Nothing was written. */
  | { readonly tag: "lane"; readonly lane: StoredLane | undefined };

export type { LedgerClock } from "./store-clock.ts";

export interface Ledger {
  readonly store: Store;
  readonly clock: LedgerClock;
  isOpen(): boolean;
  /** Asks for the store's time where the local clocks disagree on how much has passed: the host slept. */
  sync(): Promise<void>;
  /** Set while the store has lost data, until somebody trusts it again. */
  suspicion(): { readonly why: string; readonly since: number } | undefined;
  /** A person vouches for the ledger as it is now. */
  trust(by: string): Promise<void>;
  /** Opens the store once; later calls wait for the same opening. A failed one is tried again. */
  open(): Promise<void>;
  /** `known` is what the caller believes stands there; without it, that nothing does. */
  move(
    ref: Ref,
    move: Move,
    known?: Stored | undefined,
    lane?: LaneChange | undefined,
  ): Promise<Moved>;
  read(ref: Ref): Promise<Stored | undefined>;
  /** What a lane was when this process last saw it: good enough to write on, never to refuse on. */
  guessLane(tenant: string, name: string): StoredLane | undefined;
  /** `undefined`: nobody is in it. */
  readLane(tenant: string, name: string): Promise<StoredLane | undefined>;
  /** Changes a lane alone. False: it had changed, and nothing was written. */
  changeLane(tenant: string, change: LaneChange): Promise<boolean>;
}

/** Moves that only the owner of an open operation makes. */
const OWNERS = new Set<Move["move"]>(["settle", "note", "renew"]);

export interface LedgerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly witness: Witness;
  /** Hears of it once, when the store is found to have lost data. */
  readonly onSuspect: (why: string) => void;
  readonly onWitnessError: (error: unknown) => void;
  /** Whether who settles leaves its lane in the same move; else it is free by the record. @default true */
  readonly leavesLanes?: boolean | undefined;
}

export function createLedger({
  store,
  clock,
  witness,
  onSuspect,
  onWitnessError,
  leavesLanes = true,
}: LedgerOptions): Ledger {
  let suspect: { readonly why: string; readonly since: number } | undefined;
  let mark: Mark | undefined;
  let witnessFailed = false;
  let opening: Promise<void> | undefined;
  let opened = false;
  const time = storeClock(clock);
  const { timed } = time;
  const lanes = knownLanes(readLane);

  async function swap(change: Change): Promise<Swapped> {
    const before = mark;
    const swapped = await timed(() => store.swap(change));
    lanes.heard(change, swapped);
    if (!swapped.ok) return swapped;
    follow(before, swapped.sequence);
    const isClaim = typeof change.lease === "number";
    if (isClaim && before && swapped.sequence > before.sequence + 1) await hearOthers();
    return swapped;
  }

  async function readLane(tenant: string, name: string): Promise<StoredLane | undefined> {
    const { stored } = await timed(() => store.readLane(tenant, name));
    lanes.saw(tenant, name, stored ?? NO_LANE);
    return stored;
  }

  async function compare(): Promise<void> {
    // In this order: a mark is noted after its write, so a store asked later has come at least as far.
    const seen = await witness.read();
    const { id, sequence, now } = await timed(() => store.open());
    mark = { id, sequence, since: seen?.since ?? now };
    doubt(suspicion(seen, mark), mark.since);
    if (!suspect) noteMark(mark);
  }

  function doubt(why: string | undefined, since: number): void {
    if (why === undefined || suspect !== undefined) return;
    suspect = { why, since };
    if (mark) noteMark({ ...mark, suspect: why });
    onSuspect(why);
  }

  /** A write asked for after another was acknowledged comes later; if not, the store has gone back. */
  function follow(before: Mark | undefined, sequence: number): void {
    if (!mark || !before) return;
    if (sequence <= before.sequence) {
      doubt(`the ledger went back (sequence ${sequence}, it was ${before.sequence})`, mark.since);
    }
    if (sequence > mark.sequence) mark = { ...mark, sequence };
    if (!suspect) noteMark(mark);
  }

  /**
   * Others may have found a loss and written on, until the store was past our mark again: by our own
   * eyes nothing is amiss. What they found stands with the witness.
   */
  const hearOthers = together(async () => {
    const found = await witness.doubt().catch(onWitnessError);
    if (found) doubt(found.suspect, found.since);
  });

  /** A witness that fails (a full disk) must not make a written move look unwritten. */
  function noteMark(seen: Mark): void {
    if (witnessFailed) return;
    try {
      witness.note(seen);
    } catch (error) {
      // Once is enough: it will not get better, and the store itself is fine.
      witnessFailed = true;
      onWitnessError(error);
    }
  }

  return {
    store,
    clock: time,

    async sync() {
      if (time.hasSlept()) await timed(() => store.open());
    },

    isOpen: () => opened,
    suspicion: () => suspect,

    async trust(by) {
      const { id, sequence, now } = await timed(() => store.open());
      mark = { id, sequence, since: now };
      await witness.trust(mark, by, now);
      suspect = undefined;
    },

    open() {
      opening ??= compare().then(
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

    async move({ tenant, id }, move, known, lane) {
      let stored = known;
      // A guess is only good for writing: a refusal must rest on what the store said.
      let certain = false;
      for (let laneTries = 0; ; ) {
        const applied = apply(stored, move, time.said());
        if (applied.tag !== "write" && !certain) {
          ({ stored } = await timed(() => store.read(tenant, id)));
          certain = true;
          continue;
        }
        if (applied.tag === "refused") {
          // Open operations are never removed: an owner whose record is gone has a store that lost it.
          if (applied.why === "absent" && OWNERS.has(move.move) && mark) {
            doubt("an open operation is gone", mark.since);
          }
          return { tag: "refused", why: applied.why, stored };
        }
        if (applied.tag === "same") return { tag: "moved", stored };
        const { record, lease, report } = applied;
        const expect = stored?.version ?? 0;
        const left =
          !lane && leavesLanes ? await lanes.leaving(stored?.record, record, laneTries) : undefined;
        const swapped = await swap({ tenant, id, expect, record, lease, lane: lane ?? left });
        if (swapped.ok) {
          const { version, leaseUntil } = swapped;
          return { tag: "moved", report, stored: record && { record, version, leaseUntil } };
        }
        // Of two things that had changed the record counts: it may say that no lane is needed.
        if (swapped.lane && (swapped.current?.version ?? 0) === expect) {
          if (lane) return { tag: "lane", lane: swapped.lane };
          laneTries += 1;
          continue;
        }
        stored = swapped.current;
        certain = true;
      }
    },

    async read({ tenant, id }) {
      return (await timed(() => store.read(tenant, id))).stored;
    },

    guessLane: lanes.guess,
    readLane,

    changeLane: async (tenant, lane) => (await swap(laneAlone(tenant, lane))).ok,
  };
}
