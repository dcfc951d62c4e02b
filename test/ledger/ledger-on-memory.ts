/**
 * A ledger on a store in memory, with a store between the two that a test can change, and which lists what was asked.
 *
 * @module
 */

import {
  createLedger,
  type Ledger,
  type LedgerOptions,
  type Ref,
} from "../../src/ledger/ledger.ts";
import type { Stored } from "../../src/ledger/record.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { claimOf, recordOf } from "../../src/testing/record-of.ts";
import { type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";

export const tenant: string = recordOf().tenant;
export const id: string = recordOf().id;
export const REF: Ref = { tenant, id };
export const settle = {
  move: "settle",
  epoch: 1,
  holder: "holder-1",
  state: { tag: "committed", via: "reply" },
  updates: [],
  at: 1,
} as const;

export interface Setting {
  readonly ledger: Ledger;
  readonly store: Store;
  /** What was asked of the store, in order. */
  readonly asked: string[];
  readonly suspects: string[];
  readonly clock: VirtualClock;
}

/** `around` stands between the ledger and its store. */
export function setUp(
  around: (store: Store) => Partial<Store> = () => ({}),
  {
    witness = memoryWitness(),
    leavesLanes,
  }: Partial<Pick<LedgerOptions, "witness" | "leavesLanes">> = {},
): Setting {
  const clock = virtualClock();
  const store = memoryStore({ now: clock.now, forgets: "accepted" });
  const used = { ...store, ...around(store) };
  const asked: string[] = [];
  const telling = <A extends readonly unknown[], T>(name: string, ask: (...args: A) => T) => {
    return (...args: A): T => {
      asked.push(name);
      return ask(...args);
    };
  };
  const suspects: string[] = [];
  const ledger = createLedger({
    store: {
      ...used,
      open: telling("open", used.open),
      read: telling("read", used.read),
      readLane: telling("readLane", used.readLane),
      swap: telling("swap", used.swap),
    },
    clock,
    witness,
    onSuspect: (why) => suspects.push(why),
    onWitnessError: () => {},
    leavesLanes,
  });
  return { ledger, store, asked, suspects, clock };
}

/** A claim by `holder-1`. What it asked is not listed. */
export async function claimed(setting: Setting): Promise<Stored> {
  const moved = await setting.ledger.move(REF, claimOf());
  if (moved.tag !== "moved" || !moved.stored) throw new Error(moved.tag);
  setting.asked.length = 0;
  return moved.stored;
}
