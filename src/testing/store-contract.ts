/**
 * What every store must do. A store is done when this suite passes on it.
 *
 * Subpath export `"holdfire/testing"`; it registers vitest tests.
 *
 * @module
 */

import { afterEach, beforeEach, describe } from "vitest";
import type { Store } from "../ledger/store.ts";
import { testEffects } from "./store-contract/effects.ts";
import { testLanes } from "./store-contract/lanes.ts";
import { testLeases } from "./store-contract/leases.ts";
import { testLifetime } from "./store-contract/lifetime.ts";
import { testLists } from "./store-contract/lists.ts";
import { testPruning } from "./store-contract/pruning.ts";
import { testReopening } from "./store-contract/reopening.ts";
import { testRoundTrips } from "./store-contract/round-trips.ts";
import type { Subject, TestClock } from "./store-contract/subject.ts";
import { testSwaps } from "./store-contract/swaps.ts";
import { testTenants } from "./store-contract/tenants.ts";

export type { TestClock } from "./store-contract/subject.ts";

export interface StoreContractOptions {
  /** Makes a store on an empty ledger; the suite calls its `open` and `close`. Called for each test. */
  readonly open: (clock: TestClock) => Store | Promise<Store>;
  /**
   * Makes another store on the ledger that `open` made last, as another process would.
   *
   * @default the ledger dies with its store, and what outlives it is not tested
   */
  readonly reopen?: ((clock: TestClock) => Store | Promise<Store>) | undefined;
  /**
   * Whose clock measures leases: the `TestClock` given to `open`, or one that tests cannot move. With
   * `"server"` the suite takes short leases and asks the store until they have run out.
   *
   * @default "injected"
   */
  readonly clock?: "injected" | "server" | undefined;
  /** What the store cannot do, where the contract leaves it a choice. */
  readonly capabilities?: StoreCapabilities | undefined;
}

export interface StoreCapabilities {
  /**
   * Whether a record and its lane change in one move. `false`: the lane goes first, and may have
   * changed when the record is refused.
   *
   * @default true
   */
  readonly joinsLanes?: boolean | undefined;
}

const START = 1_750_000_000_000;
const POLL_MS = 5;

export function storeContract(name: string, options: StoreContractOptions): void {
  const { open, reopen, clock: whose = "injected", capabilities = {} } = options;

  describe(`store contract: ${name}`, () => {
    let subject: Subject;
    let opened: Store[] = [];

    beforeEach(async () => {
      const clock = testClock();
      const begin = async (make: StoreContractOptions["open"]) => {
        const store = await make(clock);
        opened.push(store);
        return { store, start: (await store.open()).now };
      };
      const { store, start } = await begin(open);
      subject = {
        store,
        start,
        another: async () => (await begin(reopen ?? open)).store,
        reach: (time) => (whose === "server" ? poll(store, time) : leap(clock, time)),
      };
    });

    afterEach(async () => {
      const stores = opened;
      opened = [];
      for (const store of stores) await store.close();
    });

    const current = () => subject;
    testSwaps(current);
    testLeases(current);
    testLanes(current, capabilities.joinsLanes ?? true);
    testTenants(current);
    testEffects(current);
    testLists(current);
    testPruning(current);
    testRoundTrips(current);
    testLifetime(current);
    if (reopen) testReopening(current);
  });
}

function testClock(): TestClock {
  let time = START;
  return {
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
  };
}

async function leap(clock: TestClock, time: number): Promise<void> {
  clock.advance(Math.max(time - clock.now(), 0));
}

/** Asks, because only the store knows its time; the test's own time limit ends a clock that stands. */
async function poll(store: Store, time: number): Promise<void> {
  while ((await store.read("clock", "clock")).now < time) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
