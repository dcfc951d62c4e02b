/**
 * One case in a process of its own, which measures a round each time it is told to.
 *
 * Processes, because in a shared one every case would pay for the garbage of the others, and processor
 * time could not be told apart. Only one of them works at a time.
 *
 * Without a parent it measures once, which is what a profile needs:
 * `node --cpu-prof bench/call/child.ts '{"group":"memory","guard":{"tag":"holdfire","checkout":"."}}'`.
 *
 * @module
 */

import { drive, type Measured } from "../stores/measure.ts";
import { allocatedKb } from "./allocated.ts";
import { type Case, guardOf } from "./cases.ts";
import { type Effect, type Guard, newOrder, type Place, type Receipt } from "./guard.ts";

export interface Round {
  readonly callers: number;
  readonly ms: number;
  /** Whether the memory that a call allocates is measured as well. */
  readonly allocation: boolean;
  /** Whether the same calls are made again, and measured. */
  readonly again: boolean;
}

/** What the function under guard saw. `asked` calls were made, each of them new. */
export interface Ran {
  readonly asked: number;
  readonly twice: number;
  readonly never: number;
  readonly wrongReceipts: number;
}

export type RoundResult =
  | {
      readonly tag: "measured";
      readonly first: Measured;
      readonly again: Measured | undefined;
      readonly allocatedKb: number | undefined;
      readonly ran: Ran;
      /** How often the function ran when a call that was done was made again. */
      readonly ranAgain: number;
    }
  | { readonly tag: "failed"; readonly why: string };

const WARM_UP_MS = 100;
/** So many calls between two turns of the event loop, as a program that does I/O would make. */
const CALLS_A_TURN = 50;
const MOST_CALLS = 1 << 24;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const collectGarbage = (): void => (globalThis as { gc?: () => void }).gc?.();

async function measure(
  open: (effect: Effect) => Promise<Guard>,
  startAt: number,
  { callers, ms, allocation, again }: Round,
): Promise<{ readonly result: RoundResult; readonly next: number }> {
  const runs = new Uint8Array(MOST_CALLS);
  let next = startAt;
  let wrongReceipts = 0;
  effect = async ({ n }) => {
    runs[n - startAt] = (runs[n - startAt] ?? 0) + 1;
    return { id: `receipt-${n}`, n };
  };
  const guard = await open((order) => effect(order));
  const make = async (n: number): Promise<void> => {
    const receipt = await guard.call(newOrder(n));
    if (receipt.n !== n) wrongReceipts += 1;
    if (n % CALLS_A_TURN === 0) await turn();
  };
  const first = (): Promise<void> => {
    next += 1;
    return make(next - 1);
  };
  await drive(callers, WARM_UP_MS, first);
  collectGarbage();
  const allocated = allocation ? await allocatedKb(first) : undefined;
  collectGarbage();
  const measuredFirst = await drive(callers, ms, first);
  const asked = next - startAt;
  const seen = runs.subarray(0, asked);
  const twice = seen.reduce((sum, count) => sum + (count > 1 ? 1 : 0), 0);
  const never = seen.reduce((sum, count) => sum + (count === 0 ? 1 : 0), 0);
  const total = (): number => seen.reduce((sum, count) => sum + count, 0);
  const before = total();
  let repeated = 0;
  const repeat = (): Promise<void> => {
    repeated += 1;
    return make(startAt + (repeated % asked));
  };
  const measuredAgain = again ? await drive(callers, ms / 2, repeat) : undefined;
  const ranAgain = total() - before;
  await guard.close();
  const ran = { asked, twice, never, wrongReceipts };
  const measured = { first: measuredFirst, again: measuredAgain, allocatedKb: allocated };
  return { next, result: { tag: "measured", ...measured, ran, ranAgain } };
}

/** Another one in each round. DBOS keeps the first function it is given, so all go through here. */
let effect: (order: { readonly n: number }) => Promise<Receipt>;

const [caseText = "{}", placeText = "{}"] = process.argv.slice(2);
const openGuard = await guardOf(JSON.parse(caseText) as Case);
const place = JSON.parse(placeText) as Place;
let next = place.firstOrder ?? 1;

async function answer(round: Round): Promise<RoundResult> {
  try {
    const measured = await measure((of) => openGuard(of, place), next, round);
    next = measured.next;
    return measured.result;
  } catch (error) {
    return { tag: "failed", why: error instanceof Error ? error.message : String(error) };
  }
}

if (process.send) {
  process.on("message", async (round: Round) => process.send?.(await answer(round)));
  process.on("disconnect", () => process.exit(0));
} else {
  console.log(await answer({ callers: 1, ms: 5_000, allocation: true, again: true }));
}
