/**
 * Notices that a store has lost data: it is compared with the witness when it is opened, and with its own
 * last answer after every write.
 *
 * @module
 */

import { coalesce } from "../../lang/coalesce.ts";
import type { Change, Incarnation, Store, Swapped } from "../store.ts";
import { isKept, lastChanges } from "./last-changes.ts";
import { type Mark, suspicion, type Witness } from "./witness.ts";

/** Why the store is not trusted; what it lost was sent after `since`. */
export interface Suspicion {
  readonly why: string;
  readonly since: number;
}

/** How far this process has seen the ledger come. */
export interface Seen {
  readonly sequence: number;
  /** How many sequences below it were not answers to this process when it was raised past them. */
  readonly skipped: number;
}

type Done = Extract<Swapped, { ok: true }>;

export interface LossWatch {
  suspicion(): Suspicion | undefined;
  /** The ledger as it was last seen, once it has been opened. */
  seen(): Seen | undefined;
  /** Compares the store with what the witness has seen of it. */
  compare(open: () => Promise<Incarnation>): Promise<void>;
  /**
   * `before` is what was seen when the change was sent, `swapped` what the store answered, and `isAlone` whether no
   * other change was under way. Resolves once the witness has it and, where another server answered than before, once
   * the two were compared. A change that takes a lease (`claim`, `note`, `renew`) lets something be fired: it also waits
   * until the witness was asked what other processes have found, if they have written meanwhile. `undefined`: all that
   * is done.
   */
  follow(
    before: Seen | undefined,
    change: Change,
    swapped: Done,
    isAlone: boolean,
  ): Promise<void> | undefined;
  doubt(why: string): void;
  trust(found: Incarnation, by: string): Promise<void>;
}

const lacking = (version: number): string =>
  `a copy of the ledger has taken its place, and lacks the last change seen before (${version})`;

export function lossWatch({
  store,
  witness,
  onSuspect,
  onWitnessError,
}: {
  readonly store: Pick<Store, "open" | "read" | "holds">;
  readonly witness: Witness;
  readonly onSuspect: (why: string) => void;
  readonly onWitnessError: (error: unknown) => void;
}): LossWatch {
  let suspect: Suspicion | undefined;
  let mark: Mark | undefined;
  let skipped = 0;
  let witnessFailed = false;
  let server: string | undefined;
  const acknowledged = lastChanges();

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

  /**
   * Other processes may have found a loss and gone on writing until the sequence passed our mark:
   * then our own mark shows no loss. What they found is recorded by the witness.
   */
  const askOthers = coalesce(async () => {
    if (!mark) return;
    const found = await witness.doubt(mark.id).catch(onWitnessError);
    if (found) suspectFor(found.suspect, found.since);
  });

  /** On another timeline the last change that was acknowledged may be missing, however high the sequence is. */
  async function lacks(seen: Mark | undefined, found: Incarnation): Promise<string | undefined> {
    if (!seen || seen.sequence === 0 || seen.id !== found.id || !store.holds) return undefined;
    if (seen.timeline === undefined || seen.timeline === found.timeline) return undefined;
    return (await store.holds(seen.sequence)) ? undefined : lacking(seen.sequence);
  }

  /** Another server answers than before: a copy that was promoted, or the same one after a restart. */
  const compareServers = coalesce(async () => {
    const found = await store.open();
    if (!mark || found.server === server) return;
    const isSame = mark.timeline !== undefined && mark.timeline === found.timeline;
    const newest = isSame ? undefined : acknowledged.newest();
    const isLost = newest && !isKept(newest, (await store.read(newest.tenant, newest.id)).stored);
    acknowledged.clear();
    ({ server } = found);
    mark = { ...mark, timeline: found.timeline };
    suspectFor(isLost ? lacking(newest.version) : undefined, mark.since);
  });

  function raise(before: Seen, sequence: number): void {
    if (!mark) return;
    if (sequence <= before.sequence) {
      const was = `its sequence is ${sequence}, it was ${before.sequence}`;
      suspectFor(`the ledger went back to an earlier state (${was})`, mark.since);
    }
    if (sequence > mark.sequence) {
      skipped += sequence - mark.sequence - 1;
      mark = { ...mark, sequence };
    }
  }

  /** The answers to writes that were committed together come together: the first one notes the last. */
  const noteTogether = coalesce(async () => {
    if (!suspect && mark) note(mark);
  });

  /**
   * Between what a change that takes a lease was decided on and its own write, another process has written: it may have
   * found a loss.
   */
  const isOvertaken = (before: Seen, takesLease: boolean): boolean =>
    takesLease && skipped > before.skipped;

  async function afterComparing(
    before: Seen,
    sequence: number,
    takesLease: boolean,
  ): Promise<void> {
    const comparing = compareServers();
    // A write that takes no lease was right to make all the same: it lets nothing be fired.
    await (takesLease ? comparing : comparing.catch(() => {}));
    raise(before, sequence);
    await noteTogether();
    if (isOvertaken(before, takesLease)) await askOthers();
  }

  return {
    suspicion: () => suspect,
    seen: () => mark && { sequence: mark.sequence, skipped },

    async compare(open) {
      const first = await open();
      const seen = await witness.read(first.id);
      // Other processes may have written meanwhile. A mark is noted after its write, so a store that is
      // asked once the mark is known is at least as far.
      const found = suspicion(seen, first) === undefined ? first : await open();
      const { id, sequence, now, timeline } = found;
      ({ server } = found);
      mark = { id, sequence, since: seen?.since ?? now, timeline };
      suspectFor(suspicion(seen, mark) ?? (await lacks(seen, found)), mark.since);
      if (!suspect) note(mark);
    },

    /**
     * A write that begins after another was acknowledged gets a higher sequence. If it does not, the
     * store has gone back to an earlier state.
     */
    follow(before, change, swapped, isAlone) {
      if (!mark || !before) return undefined;
      const { sequence } = swapped;
      const takesLease = typeof change.lease === "number";
      const isOther = swapped.server !== server;
      if (server !== undefined && !(isOther && change.record)) acknowledged.add(change, sequence);
      if (isOther) return afterComparing(before, sequence, takesLease);
      raise(before, sequence);
      if (isOvertaken(before, takesLease)) return noteTogether().then(askOthers);
      if (!isAlone) return noteTogether();
      // Nearly always, for one caller: there is nothing to wait for.
      if (!suspect) note(mark);
      return undefined;
    },

    doubt(why) {
      if (mark) suspectFor(why, mark.since);
    },

    async trust({ id, sequence, now, timeline }, by) {
      mark = { id, sequence, since: now, timeline };
      await witness.trust(mark, by, now);
      suspect = undefined;
    },
  };
}
