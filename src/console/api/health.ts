/**
 * How the ledger is: outcomes over time, attempts, what was suppressed, what is open, and the queues of resources. Read
 * from the records themselves, of a limited time and number; the answer says how far it looked.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { createTally, type Stats } from "../../describe/stats.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { engineOf } from "../../engine/engine-of.ts";
import { askStore } from "../../engine/store-call.ts";
import { InvalidInputError } from "../../errors.ts";
import { visible } from "../../key/escape-hidden.ts";
import type { StateTag } from "../../ledger/record.ts";
import type { Health } from "../model.ts";
import { type HiddenByClient, hiddenByClient } from "./hidden-retries.ts";
import { openFacts } from "./open-facts.ts";

/** Of the last so many hours, as text. */
export type HealthOf = (hours: string | null) => Promise<Health>;

const PAGE = 1_000;
const MOST_READ = 50_000;
const BUDGET_MS = 800;
const BARS = 48;
const HOUR_MS = 3_600_000;
const MOST_HOURS = 24 * 31;
/** Pages and scrapers that ask at the same time are given the same figures. */
const FRESH_MS = 3_000;
const MOST_KEPT = 8;

export function createHealth(hf: Holdfire): HealthOf {
  const byClient = hiddenByClient(hf);
  const kept = new Map<number, { readonly at: number; readonly health: Promise<Health> }>();
  return async (text) => {
    const hours = hoursIn(text);
    const now = engineOf(hf).clock.monotonic();
    const last = kept.get(hours);
    if (last && now - last.at < FRESH_MS) return last.health;
    const health = read(hf, hours, byClient);
    if (kept.size >= MOST_KEPT) kept.clear();
    kept.set(hours, { at: now, health });
    health.catch(() => kept.delete(hours));
    return health;
  };
}

function hoursIn(text: string | null): number {
  const hours = Number(text ?? 24);
  if (Number.isInteger(hours) && hours >= 1 && hours <= MOST_HOURS) return hours;
  throw new InvalidInputError("hours", `must be a whole number from 1 to ${MOST_HOURS}.`);
}

async function read(hf: Holdfire, hours: number, byClient: HiddenByClient): Promise<Health> {
  const engine = engineOf(hf);
  const { ledger, clock } = engine;
  await askStore(engine, "open", ledger.open());
  const now = ledger.clock.latest();
  const from = now - hours * HOUR_MS;
  const tally = createTally();
  const outcomes = outcomesFrom(from, now);
  const times = new Map<number, number>();
  const started = clock.monotonic();
  let [looked, complete] = [0, false];
  let cursor: string | undefined;
  do {
    const page = await hf.operations.list({ newestFirst: true, limit: PAGE, cursor });
    const inTime = page.items.filter(({ createdAt }) => createdAt >= from);
    for (const operation of inTime) {
      tally.add(operation);
      outcomes.add(operation);
      if (operation.fired > 0) times.set(operation.fired, (times.get(operation.fired) ?? 0) + 1);
    }
    looked += inTime.length;
    ({ cursor } = page);
    complete = cursor === undefined || inTime.length < page.items.length;
  } while (!complete && looked < MOST_READ && clock.monotonic() - started < BUDGET_MS);
  const stats = tally.stats();
  return {
    ...{ from, to: now, now, looked, complete },
    outcomes: outcomes.series(),
    firedTimes: firedTimes(times),
    unknownRate: stats.unknownRate,
    suppressed: stats.duplicatesSuppressed,
    lateReplies: stats.lateReplies,
    hiddenRetries: { byTool: hiddenByTool(stats), byClient: byClient() },
    open: await openFacts(hf),
    cannotTell: stats.cannotTell,
  };
}

/** Bars of equal length, the last of which ends now. */
function outcomesFrom(from: number, to: number) {
  const length = Math.max(1, (to - from) / BARS);
  const zeros = () => new Array<number>(BARS).fill(0);
  const series: Record<StateTag, number[]> = {
    ...{ committed: zeros(), not_applied: zeros(), unknown: zeros(), denied: zeros() },
    ...{ held: zeros(), queued: zeros(), claimed: zeros() },
  };
  return {
    add({ createdAt, status }: OperationView): void {
      const bar = Math.min(BARS - 1, Math.max(0, Math.floor((createdAt - from) / length)));
      series[status][bar] = (series[status][bar] ?? 0) + 1;
    },
    series: () => ({ at: zeros().map((_, bar) => from + bar * length), series }),
  };
}

const MANY = 4;

function firedTimes(times: ReadonlyMap<number, number>): Health["firedTimes"] {
  const of = (isIn: (n: number) => boolean) =>
    [...times].reduce((sum, [n, operations]) => (isIn(n) ? sum + operations : sum), 0);
  const few = [1, 2, 3].map((n) => ({ times: String(n), operations: of((fired) => fired === n) }));
  return [...few, { times: `${MANY} or more`, operations: of((fired) => fired >= MANY) }];
}

const MOST_TOOLS = 20;

const hiddenByTool = ({ byTool }: Stats): Health["hiddenRetries"]["byTool"] =>
  Object.entries(byTool)
    .filter(([, { extraRequests }]) => extraRequests > 0)
    .map(([tool, { extraRequests }]) => ({ tool: visible(tool, 100), requests: extraRequests }))
    .sort((one, other) => other.requests - one.requests)
    .slice(0, MOST_TOOLS);
