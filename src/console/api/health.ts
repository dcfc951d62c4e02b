/**
 * How the ledger is: outcomes over time, attempts, what was suppressed, hidden retries, what is open, and the queues of
 * resources. Read from the records themselves, of a limited time and number; the answer says how far it looked.
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
import type { Health, LaneRow } from "../model.ts";
import { rowOf } from "./rows.ts";

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
    ...{ held: zeros(), claimed: zeros() },
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

const MOST_OPEN = 10_000;
const MOST_LANES = 20;
const MOST_LANES_READ = 500;

/** How many by status, the unknown that waits longest, and the resources whose writes wait for one another. */
async function openFacts(hf: Holdfire): Promise<Health["open"]> {
  const byStatus: Partial<Record<StateTag, number>> = {};
  const byResource = new Map<string, OperationView[]>();
  let oldestUnknown: OperationView | undefined;
  let read = 0;
  let cursor: string | undefined;
  do {
    const page = await hf.operations.list({ open: true, limit: PAGE, cursor });
    for (const operation of page.items) {
      const { status, resource, at } = operation;
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      const isOlder = oldestUnknown === undefined || at < oldestUnknown.at;
      if (status === "unknown" && isOlder) oldestUnknown = operation;
      if (resource !== undefined) {
        byResource.set(resource, [...(byResource.get(resource) ?? []), operation]);
      }
    }
    read += page.items.length;
    ({ cursor } = page);
  } while (cursor !== undefined && read < MOST_OPEN);
  const resources = [...byResource].slice(0, MOST_LANES_READ);
  const lanes = await Promise.all(resources.map((one) => laneOf(hf, ...one)));
  return {
    byStatus,
    complete: cursor === undefined,
    oldestUnknown: oldestUnknown && rowOf(oldestUnknown),
    lanes: lanes
      .filter(({ waiting, holder }) => waiting > 0 || holder?.status === "unknown")
      .sort((one, other) => other.waiting - one.waiting)
      .slice(0, MOST_LANES),
  };
}

/** The one that was sent or may have been holds the lane; calls that wait for it have a ticket in its queue. */
async function laneOf(
  hf: Holdfire,
  resource: string,
  open: readonly OperationView[],
): Promise<LaneRow> {
  const { ledger, tenant } = engineOf(hf);
  const holder = open.find(({ status }) => status === "claimed" || status === "unknown");
  const { lane } = (await ledger.readLane(tenant, resource)) ?? {};
  const now = ledger.clock.earliest();
  return {
    resource: visible(resource, 200),
    holder: holder && rowOf(holder),
    waiting: lane?.queue.filter(({ until }) => until > now).length ?? 0,
  };
}

type HiddenByClient = () => Health["hiddenRetries"]["byClient"];

const MOST_ORIGINS = 50;

/** As this process hears of them: the ledger keeps only how many requests an attempt sent. */
function hiddenByClient(hf: Holdfire): HiddenByClient {
  const counts = new Map<string, number>();
  hf.on("warning", (warning) => {
    if (warning.code !== "hidden_retry") return;
    const { origin, count, refused = 0 } = warning;
    const isKept = counts.has(origin) || counts.size < MOST_ORIGINS;
    const name = isKept ? origin : "others";
    counts.set(name, (counts.get(name) ?? 0) + Math.max(0, count - 1) + refused);
  });
  return () =>
    [...counts]
      .map(([origin, requests]) => ({ origin: visible(origin, 200), requests }))
      .sort((one, other) => other.requests - one.requests);
}
