/**
 * One of several processes that are asked for the same things at the same time.
 *
 * @module
 */

import { inspect } from "node:util";
import { createHoldfire } from "../../src/create.ts";
import { absent, committed, duplicated } from "../../src/engine/define/reading.ts";
import type { Store } from "../../src/ledger/store.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import { createClient, type ServiceClient } from "../../src/testing/faulty-service/client.ts";
import type { EffectBody } from "../../src/testing/faulty-service/logs.ts";
import { createChance } from "../battery/world/chance.ts";
import { atMost } from "./at-most.ts";
import { hangUp, hear, tell } from "./parent.ts";
import { openPlace, type Place } from "./place.ts";

export interface RaceOrder {
  readonly tag: "race";
  readonly place: Place;
  /** Where all of them keep their marks. */
  readonly witness: string;
  readonly url: string;
  readonly toolClass: "neither" | "keyed_readable";
  readonly items: readonly string[];
  /** Decides in which order this process asks. */
  readonly seed: number;
  readonly atOnce: number;
}

/** What one process was told of one thing. */
export interface Told {
  readonly item: string;
  readonly status: string;
  /** The whole outcome, if it is not what it should be. */
  readonly why?: string | undefined;
  readonly key: string;
  /** The service's id of the effect. */
  readonly effectId?: string | undefined;
  readonly replayed: boolean;
}

export interface RaceReport {
  readonly tag: "raced";
  readonly told: readonly Told[];
  /** How often this process fired. */
  readonly fired: number;
  /** How often it found that another was at it. */
  readonly waits: number;
  /** What was said against the store, which lost nothing. */
  readonly suspicions: readonly string[];
  /** When the replies that never came were given up. */
  readonly lost: readonly string[];
}

/** What is not settled is asked for again, as an agent would. */
const ROUNDS = 5;
const DAY_MS = 86_400_000;

const order = await hear<RaceOrder>("race");
const { store, end } = await openPlace(order.place);
let waits = 0;
let fired = 0;
const suspicions: string[] = [];
const lost: string[] = [];
const hf = createHoldfire({
  store: counting(store),
  witness: fileWitness({ folder: order.witness }),
  retry: { minDelayMs: 20, maxDelayMs: 200, storeTimeoutMs: 20_000 },
});
hf.on("attempt", () => {
  fired += 1;
});
hf.on("verdict", ({ verdict, durationMs }) => {
  if (verdict === "unknown") lost.push(`after ${Math.round(durationMs)} ms`);
});
hf.on("store", (event) => {
  if (event.status === "suspect") suspicions.push(event.why);
});
const buy = toolOf(createClient(order.url, order.toolClass));
await tell({ tag: "ready" });
await hear("go");
const told = await askForAll(shuffled(order.items, order.seed));
await tell<RaceReport>({ tag: "raced", told, fired, waits, suspicions, lost });
await hf.close();
await end();
hangUp();

function toolOf(client: ServiceClient) {
  const base = {
    name: "buy",
    kind: "write",
    run: (args: { readonly item: string }, { key, signal }: { key: string; signal: AbortSignal }) =>
      client.create(args, { key, signal }),
  } as const;
  if (order.toolClass === "neither") return hf.tool<{ item: string }, EffectBody>(base);
  return hf.tool<{ item: string }, EffectBody>({
    ...base,
    keyed: { forMs: DAY_MS },
    readState: async ({ key, signal }) => {
      const found = await client.find({ key }, { signal });
      const [first, second] = found;
      if (!first) return absent();
      return second ? duplicated(found) : committed(first, { effectId: first.id });
    },
    attemptTimeoutMs: 2_000,
    attempts: 10,
  });
}

async function askForAll(items: readonly string[]): Promise<readonly Told[]> {
  const all = new Map<string, Told>();
  for (let round = 0, open = items; round < ROUNDS && open.length > 0; round += 1) {
    for (const one of await atMost(order.atOnce, open, ask)) all.set(one.item, one);
    open = open.filter((item) => all.get(item)?.status !== "committed");
  }
  return [...all.values()];
}

async function ask(item: string): Promise<Told> {
  const outcome = await buy.outcome({ item }, { scope: "race" });
  const { status, key, replayed } = outcome;
  const isDone = status === "committed" && !outcome.resultLost;
  return {
    item,
    status,
    why: isDone ? undefined : inspect(outcome, { breakLength: Number.POSITIVE_INFINITY }),
    key,
    effectId: isDone ? outcome.result.id : undefined,
    replayed,
  };
}

/** Counts the claims that met another owner. */
function counting(inner: Store): Store {
  return Object.assign(Object.create(inner) as Store, {
    swap: async (change: Parameters<Store["swap"]>[0]) => {
      const swapped = await inner.swap(change);
      if (!swapped.ok && swapped.current?.record.state.tag === "claimed") waits += 1;
      return swapped;
    },
  });
}

function shuffled(items: readonly string[], seed: number): readonly string[] {
  const { between } = createChance(seed);
  const all = [...items];
  for (let last = all.length - 1; last > 0; last -= 1) {
    const other = between(0, last);
    [all[last], all[other]] = [all[other] ?? "", all[last] ?? ""];
  }
  return all;
}
