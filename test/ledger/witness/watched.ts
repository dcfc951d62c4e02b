/**
 * A ledger whose answers a test sets by hand, watched for losses, with a witness that tells what it was told.
 *
 * @module
 */

import type { Stored } from "../../../src/ledger/record.ts";
import type { Change, Incarnation, Store } from "../../../src/ledger/store.ts";
import { type LossWatch, lossWatch } from "../../../src/ledger/witness/loss-watch.ts";
import type { Mark, Witness } from "../../../src/ledger/witness/witness.ts";
import { recordOf } from "../../../src/testing/record-of.ts";

export const OPENED: Incarnation = { id: "a", sequence: 10, now: 1_000 };

export interface Watched {
  readonly watch: LossWatch;
  /** What the store answers when it is opened, from the next time on. */
  found: Incarnation;
  /** What the store has under any id. */
  there: Stored | undefined;
  /** What the witness has recorded when it is read. */
  seen: Mark | undefined;
  /** What other processes have found. */
  doubted: Mark | undefined;
  /** Makes the witness fail. */
  broken: boolean;
  readonly noted: Mark[];
  readonly suspects: string[];
  readonly errors: unknown[];
  /** How often the witness was asked what others have found. */
  asked: number;
  compare(): Promise<void>;
  /** A change that the store has answered. */
  written(answer: Answer): Promise<void> | undefined;
}

export interface Answer {
  readonly sequence: number;
  readonly server?: string;
  readonly id?: string;
  readonly isClaim?: boolean;
  readonly isRemoved?: boolean;
  readonly isAlone?: boolean;
  /** What was seen when it was sent. @default what is seen now */
  readonly before?: ReturnType<LossWatch["seen"]>;
}

export const changeOf = ({
  id = "operation-1",
  isClaim = false,
  isRemoved = false,
}: Partial<Answer>): Change => ({
  tenant: "acme",
  id,
  expect: 0,
  record: isRemoved ? undefined : recordOf({ id, createdAt: 5 }),
  lease: isClaim ? 60_000 : "none",
});

/** `holds` is left out where the store cannot tell. */
export function watched(holds?: Store["holds"]): Watched {
  const fails = (): void => {
    if (one.broken) throw new Error("disk full");
  };
  const witness: Witness = {
    read: async () => one.seen,
    async doubt() {
      one.asked += 1;
      fails();
      return one.doubted;
    },
    note(mark) {
      fails();
      one.noted.push(mark);
    },
    async trust(mark) {
      one.noted.push(mark);
    },
    close() {},
  };
  const store: Pick<Store, "open" | "read" | "holds"> = {
    open: async () => one.found,
    read: async () => ({ stored: one.there, now: 0 }),
    ...(holds && { holds }),
  };
  const watch = lossWatch({
    store,
    witness,
    onSuspect: (why) => one.suspects.push(why),
    onWitnessError: (error) => one.errors.push(error),
  });
  const one: Watched = {
    watch,
    found: OPENED,
    there: undefined,
    seen: undefined,
    doubted: undefined,
    broken: false,
    noted: [],
    suspects: [],
    errors: [],
    asked: 0,
    compare: () => watch.compare(async () => one.found),
    written({ sequence, server, isAlone = true, before = watch.seen(), ...change }) {
      const version = change.isRemoved ? 0 : sequence;
      const swapped = {
        ok: true,
        version,
        leaseUntil: undefined,
        now: 0,
        sequence,
        server,
      } as const;
      return watch.follow(before, changeOf(change), swapped, isAlone);
    },
  };
  return one;
}
