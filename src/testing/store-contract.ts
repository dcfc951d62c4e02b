/**
 * What every store must do. A store is done when this suite passes on it.
 *
 * Subpath export `"holdfire/testing"`.
 *
 * @module
 */

import type { Store } from "../ledger/store.ts";
import { runnerOf, type TestRunner } from "./runner.ts";
import { testEffects } from "./store-contract/effects.ts";
import { testLanes } from "./store-contract/lanes.ts";
import { testLeases } from "./store-contract/leases.ts";
import { testLifetime, testReopening } from "./store-contract/lifetime.ts";
import { testLists } from "./store-contract/lists.ts";
import { testPruning } from "./store-contract/pruning.ts";
import { testRoundTrips } from "./store-contract/round-trips.ts";
import type { StoreTest, TestClock } from "./store-contract/subject.ts";
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
  /**
   * The `describe` and `test` of your test runner.
   *
   * @default the global ones, which Jest has, and vitest with `globals: true`
   */
  readonly runner?: TestRunner | undefined;
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
  const { describe, test } = runnerOf(options.runner);
  const { reopen, capabilities = {} } = options;

  const storeTest: StoreTest = (title, body) =>
    // A rest parameter: Jest takes a function with a named one for the callback style.
    void test(title, async (...[context]) => {
      const { subject, close } = await openSubject(options);
      try {
        await body({ ...subject, skip: (why) => void context?.skip(why) });
      } finally {
        await close();
      }
    });

  describe(`store contract: ${name}`, () => {
    testSwaps(storeTest);
    testLeases(storeTest);
    testLanes(storeTest, capabilities.joinsLanes ?? true);
    testTenants(storeTest);
    testEffects(storeTest);
    testLists(storeTest);
    testPruning(storeTest);
    testRoundTrips(storeTest);
    testLifetime(storeTest);
    if (reopen) testReopening(storeTest);
  });
}

async function openSubject({ open, reopen, clock: whose = "injected" }: StoreContractOptions) {
  const clock = testClock();
  const opened: Store[] = [];
  const begin = async (make: StoreContractOptions["open"]) => {
    const store = await make(clock);
    opened.push(store);
    return { store, start: (await store.open()).now };
  };
  const close = async () => {
    for (const store of opened) await store.close();
  };
  try {
    const { store, start } = await begin(open);
    const subject = {
      store,
      start,
      another: async () => (await begin(reopen ?? open)).store,
      reach: (time: number) => (whose === "server" ? poll(store, time) : leap(clock, time)),
    };
    return { subject, close };
  } catch (error) {
    await close();
    throw error;
  }
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
