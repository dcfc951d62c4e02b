import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Fault,
  type FaultyService,
  faults,
  readFaults,
  startFaultyService,
} from "../../src/testing/faulty-service.ts";
import { createChance } from "../battery/world/chance.ts";
import { until } from "../engine/virtual-clock.ts";
import { sized } from "../proof.ts";
import { type Child, startChild } from "./child.ts";
import { findGround, type Ground } from "./ground.ts";
import { openPlace, type Place } from "./place.ts";
import type { StormOrder } from "./reconcile-caller.ts";
import type { ReconcileOrder, ReconcileTold } from "./reconciler.ts";

const SEED = Number(process.env.SEED ?? 1);
const PROCESSES = 6;
const KILLED = 3;
const EACH = sized("EACH", 300, 60);
/** A process is killed when so many of its requests have arrived. */
const KILLED_AT = EACH / 2;
/** What must have come together for the storm to have been one. */
const share = (of: number): number => Math.floor((of * EACH) / 300);
const AT_ONCE = 40;

/** More than half of all replies are lost, after the effect, before it, or while it is on its way. */
function storm(count: number): Fault[] {
  const { next } = createChance(SEED);
  return Array.from({ length: count }, (): Fault => {
    const chance = next();
    if (chance < 0.3) return faults.commitThenReset();
    if (chance < 0.45) return faults.resetBefore();
    if (chance < 0.5) return faults.lateCommit({ afterMs: 80 });
    if (chance < 0.6) return faults.blackHole({ commit: chance < 0.55 });
    return faults.slow({ ms: 0, commit: "before" });
  });
}

let ground: Ground | undefined;
let witness = "";
const children: Child[] = [];
beforeAll(async () => {
  ground = await findGround("sqlite");
  witness = await mkdtemp(join(tmpdir(), "holdfire-witness-"));
});
afterAll(async () => {
  for (const child of children) child.kill();
  await Promise.all(children.map(({ ended }) => ended));
  await ground?.stop();
  await rm(witness, { recursive: true, force: true });
});

function start(script: string): Child {
  const child = startChild(script, import.meta.url);
  children.push(child);
  return child;
}

const arrivedOf = ({ arrivals }: FaultyService, name: string): number =>
  arrivals.filter(({ intent }) => itemOf(intent).startsWith(name)).length;

const itemOf = (intent: unknown): string => (intent as { readonly item: string }).item;

async function weather(place: Place, service: FaultyService): Promise<void> {
  const callers = Array.from({ length: PROCESSES }, (_, index) => {
    const child = start("reconcile-caller.ts");
    const name = `caller ${index} `;
    const items = Array.from({ length: EACH }, (_, n) => `${name}${n}`);
    const { url } = service;
    const order: StormOrder = { tag: "storm", place, witness, url, items, atOnce: AT_ONCE };
    child.send(order);
    return { child, name };
  });
  await Promise.all(
    callers.map(async ({ child, name }, index) => {
      if (index >= KILLED) return child.next("weathered");
      await until(() => arrivedOf(service, name) >= KILLED_AT);
      child.kill();
      expect((await child.ended).signal).toBe("SIGKILL");
    }),
  );
}

/** What the dead have left behind. */
async function countClaimed(place: Place): Promise<number> {
  const { store, end } = await openPlace(place);
  await store.open();
  const { items } = await store.list({ tenant: "default", states: ["claimed"], limit: 1_000 });
  await store.close();
  await end();
  return items.length;
}

function reconciler(place: Place, url: string, more: Partial<ReconcileOrder> = {}): Child {
  const child = start("reconciler.ts");
  const usual = { tag: "reconcile", place, witness, url, deleted: [], drift: false } as const;
  const order: ReconcileOrder = { ...usual, ...more };
  child.send(order);
  return child;
}

test("after a storm of lost replies, reading alone settles what can be known, and says what cannot", async (context) => {
  if (!ground) return context.skip();
  await using service = await startFaultyService();
  service.plan(...storm(20_000));
  // Those who call cannot look either: all doubt is left for later.
  service.alwaysRead(readFaults.status());
  const place = await ground.ledger(0);
  await weather(place, service);

  expect(await countClaimed(place)).toBeGreaterThan(KILLED);

  service.alwaysRead(undefined);
  const sent = service.arrivals.length;
  const [first, second] = [reconciler(place, service.url), reconciler(place, service.url)];
  // One of those who clean up is killed, too.
  await first.next("under-way");
  first.kill();
  const told = await second.next<ReconcileTold>("reconciled");
  const { operations } = told;

  const byKey = new Map<string, number>();
  for (const { key = "" } of service.effects) byKey.set(key, (byKey.get(key) ?? 0) + 1);
  const isUntrue = ({ key, status }: (typeof operations)[number]): boolean =>
    (status === "committed" && !byKey.has(key)) || (status === "not_applied" && byKey.has(key));
  const having = (status: string) => operations.filter((one) => one.status === status);
  const unknown = having("unknown");
  process.stdout.write(
    `reconcile-storm (seed ${SEED}): ${operations.length} operations, ${sent} requests, ${having("committed").length} committed, ${having("not_applied").length} not applied, ${unknown.length} unknown, ${told.passes.length} passes\n`,
  );

  expect(operations.length).toBeGreaterThanOrEqual(share(1_000));
  expect([...byKey.values()].filter((count) => count > 1)).toEqual([]);
  expect(operations.filter(isUntrue)).toEqual([]);
  expect([...byKey.keys()].filter((key) => !operations.some((one) => one.key === key))).toEqual([]);
  // Every operation has ended, and what is unknown has a reason that no reader could lift.
  expect(operations.filter(({ status }) => status === "claimed")).toEqual([]);
  expect(unknown.filter(({ reason }) => reason === undefined)).toEqual([]);
  expect(unknown.filter(({ tool }) => tool === "order_readable")).toEqual([]);
  expect(unknown.length).toBeGreaterThan(0);
  const last = told.passes.at(-1);
  expect(last?.stillUnknown.map(({ id }) => id).sort()).toEqual(unknown.map(({ id }) => id).sort());
  // It had something to do, and did it without a single write.
  const done = told.passes.reduce((sum, one) => sum + one.committed + one.notApplied, 0);
  expect(done).toBeGreaterThan(share(100));
  expect(having("not_applied").length).toBeGreaterThan(share(20));
  expect(service.arrivals).toHaveLength(sent);
  expect(told.fired).toBe(0);

  // The longest settled first: of what was just settled, an absence would not count yet.
  const settled = having("committed")
    .filter(({ tool }) => tool === "order_readable")
    .toSorted((one, other) => one.at - other.at);
  const [twice, vanished] = settled;
  if (!twice || !vanished) throw new Error("Nothing was committed.");
  const gone = service.effects.find(({ key }) => key === vanished.key)?.effectId ?? "";
  await plant(service, { item: "once more" }, twice.key);
  const foreign = await plant(service, { item: "not ours" }, "nobody's key");
  const look = reconciler(place, service.url, { deleted: [gone], drift: true });
  const { drift, driftEvents } = await look.next<ReconcileTold>("reconciled");

  const found = drift?.findings.toSorted((one, other) => (one.finding < other.finding ? -1 : 1));
  expect(found).toMatchObject([
    { finding: "duplicated", id: twice.id, count: 2 },
    { finding: "foreign", effectId: foreign },
    { finding: "gone", id: vanished.id, effectId: gone },
  ]);
  expect(driftEvents).toBe(3);
  expect(drift).toMatchObject({ ended: "done", checked: settled.length, notCompared: [] });
  expect(drift?.tools).toEqual([
    { tool: "order_readable", effects: "checked", changes: "checked", foreign: "checked" },
    { tool: "order_keyed", effects: "not_checked", changes: "not_checked", foreign: "checked" },
    {
      tool: "order_neither",
      effects: "not_checked",
      changes: "not_checked",
      foreign: "not_checked",
    },
  ]);
}, 120_000);

/** Makes an effect that no operation of ours made, however often the storm gets in the way. */
async function plant(service: FaultyService, body: object, key: string): Promise<string> {
  const made = () => service.effects.filter((effect) => effect.key === key);
  const before = made().length;
  const client = service.client("readable");
  while (made().length === before) {
    await client.create(body, { key, signal: AbortSignal.timeout(500) }).catch(() => {});
    service.commitLate();
  }
  return made().at(-1)?.effectId ?? "";
}
