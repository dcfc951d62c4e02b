/**
 * Notices that a store has lost data: it is compared with the witness when it is opened, and with its own
 * last answer after every write.
 *
 * @module
 */

import { coalesce } from "../../lang/coalesce.ts";
import type { Incarnation } from "../store.ts";
import { type Mark, suspicion, type Witness } from "./witness.ts";

/** Why the store is not trusted; what it lost was sent after `since`. */
export interface Suspicion {
  readonly why: string;
  readonly since: number;
}

export interface LossWatch {
  suspicion(): Suspicion | undefined;
  /** The ledger as it was last seen, once it has been opened. */
  mark(): Mark | undefined;
  /** Compares the store with what the witness has seen of it. */
  compare(open: () => Promise<Incarnation>): Promise<void>;
  /** `before` is the mark when the write was sent, `sequence` what the store answered. */
  follow(before: Mark | undefined, sequence: number): void;
  /** Asks the witness for what other processes have found. */
  askOthers(): Promise<void>;
  doubt(why: string): void;
  trust(found: Incarnation, by: string): Promise<void>;
}

export function lossWatch({
  witness,
  onSuspect,
  onWitnessError,
}: {
  readonly witness: Witness;
  readonly onSuspect: (why: string) => void;
  readonly onWitnessError: (error: unknown) => void;
}): LossWatch {
  let suspect: Suspicion | undefined;
  let mark: Mark | undefined;
  let witnessFailed = false;

  function suspectFor(why: string | undefined, since: number): void {
    if (why === undefined || suspect !== undefined) return;
    suspect = { why, since };
    if (mark) note({ ...mark, suspect: why });
    onSuspect(why);
  }

  /** A failing witness (a full disk) must not make a written move look unwritten. */
  function note(seen: Mark): void {
    if (witnessFailed) return;
    try {
      witness.note(seen);
    } catch (error) {
      // Reported once: it will not recover, and the store itself works.
      witnessFailed = true;
      onWitnessError(error);
    }
  }

  return {
    suspicion: () => suspect,
    mark: () => mark,

    async compare(open) {
      const first = await open();
      const seen = await witness.read(first.id);
      // Other processes may have written meanwhile. A mark is noted after its write, so a store that is
      // asked once the mark is known is at least as far.
      const { id, sequence, now } = suspicion(seen, first) === undefined ? first : await open();
      mark = { id, sequence, since: seen?.since ?? now };
      suspectFor(suspicion(seen, mark), mark.since);
      if (!suspect) note(mark);
    },

    /**
     * A write that begins after another was acknowledged gets a higher sequence. If it does not, the
     * store has gone back to an earlier state.
     */
    follow(before, sequence) {
      if (!mark || !before) return;
      if (sequence <= before.sequence) {
        const was = `its sequence is ${sequence}, it was ${before.sequence}`;
        suspectFor(`the ledger went back to an earlier state (${was})`, mark.since);
      }
      if (sequence > mark.sequence) mark = { ...mark, sequence };
      if (!suspect) note(mark);
    },

    /**
     * Other processes may have found a loss and gone on writing until the sequence passed our mark:
     * then our own mark shows no loss. What they found is recorded by the witness.
     */
    askOthers: coalesce(async () => {
      if (!mark) return;
      const found = await witness.doubt(mark.id).catch(onWitnessError);
      if (found) suspectFor(found.suspect, found.since);
    }),

    doubt(why) {
      if (mark) suspectFor(why, mark.since);
    },

    async trust({ id, sequence, now }, by) {
      mark = { id, sequence, since: now };
      await witness.trust(mark, by, now);
      suspect = undefined;
    },
  };
}
