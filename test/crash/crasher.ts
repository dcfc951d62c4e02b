/**
 * A process that is killed at one fault point. It grants some wishes, begins the doomed ones, and dies
 * when each of them is where it was told to stop; or it dies while it recovers what another left.
 *
 * @module
 */

import { flushCompileCache } from "node:module";
import { createHoldfire, type Holdfire } from "../../src/create.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import { hear, tell } from "../processes/parent.ts";
import { openPlace, type Place } from "../processes/place.ts";
import { createStage } from "./stage.ts";
import { stagedFetch } from "./staged-fetch.ts";
import { aliasOf, type Doom, stagedStore } from "./staged-store.ts";
import { LEASE_MS, type OrderTool, orderOf, scopeOf, toolsOf } from "./tools.ts";
import type { Trial, Wish } from "./trial.ts";

export interface CrashOrder {
  readonly tag: "crash";
  readonly trial: Trial;
  readonly place: Place;
  readonly url: string;
  readonly witness: string;
  /** The file in which to write down what was reached. */
  readonly notes: string;
  /** Whether this process recovers what another has begun. */
  readonly recovers: boolean;
}

/** What was granted before anything went wrong, and under which effect. */
export interface Granted {
  readonly tag: "granted";
  readonly effects: Readonly<Record<string, string | undefined>>;
}

// It ends by being killed, and not because nothing is left to do.
process.on("message", () => {});
const order = await hear<CrashOrder>("crash");
const { trial } = order;
const { store } = await openPlace(order.place);
// Usually done at the exit, which this process will not see.
flushCompileCache();
const doomed = trial.wishes.filter(({ spot }) => spot !== undefined);
const dooms = new Map(doomed.map((wish) => [wish.name, doomOf(wish)]));
const names = [...dooms.keys()];
const stage = await createStage({ notes: order.notes, names, death: trial.death });
const staged = stagedStore(store, dooms, stage);
const patient = order.recovers ? [] : doomed.filter(({ attempt }) => attempt > 1);
const sender = stagedFetch(dooms, stage, patient.length);
const witness = fileWitness({ folder: order.witness });
const options = {
  store: staged,
  witness,
  tenant: trial.id,
  retry: { leaseMs: LEASE_MS, storeTimeoutMs: 60_000, minDelayMs: 1, maxDelayMs: 50 },
};
const hf = createHoldfire(options);
const tools = toolsFor(hf);
const asking = toolsFor(
  createHoldfire({
    ...options,
    confirm: ({ id, digest }) => {
      stage.note(`yes ${id} ${digest}`);
      return { approve: true, by: "ana" };
    },
  }),
);

if (order.recovers) {
  await tell<Granted>({ tag: "granted", effects: {} });
  await hear("go");
  for (const wish of doomed) begin(wish);
} else {
  const granted = trial.wishes.filter(({ spot }) => spot === undefined);
  const effects = await Promise.all(granted.map(grant));
  await tell<Granted>({ tag: "granted", effects: Object.fromEntries(effects) });
  await hear("go");
  for (const wish of patient) begin(wish);
  // Those with one attempt only must not get the faults that are meant for first attempts.
  await sender.failed;
  for (const wish of doomed) if (wish.attempt === 1) begin(wish);
}

function toolsFor(by: Holdfire): Record<Wish["class"], OrderTool> {
  return toolsOf({ hf: by, trial, url: order.url, fetch: sender.fetch });
}

function doomOf({ spot = "settled", attempt }: Wish): Doom {
  if (trial.point === "F10" && !order.recovers) return { spot: trial.diedAt, attempt };
  return { spot, attempt };
}

async function grant(wish: Wish): Promise<[string, string | undefined]> {
  if (trial.point === "F11") await approve(wish, tools[wish.class]);
  const outcome = await call(wish, tools[wish.class]);
  return [wish.name, outcome.status === "committed" ? outcome.result?.id : undefined];
}

/** Nobody waits for it: it stops somewhere, for good. */
function begin(wish: Wish): void {
  const going = async (): Promise<void> => {
    if (wish.yes === "confirm") {
      await call(wish, asking[wish.class]);
      return;
    }
    if (wish.yes === "inbox") await approve(wish, tools[wish.class]);
    await call(wish, tools[wish.class]);
  };
  going().catch((error: unknown) => stage.note(`failed ${wish.name}: ${String(error)}`));
}

function call(wish: Wish, tool: OrderTool): ReturnType<OrderTool["outcome"]> {
  return tool.outcome(orderOf(wish), { scope: scopeOf(trial), aliases: [aliasOf(wish.name)] });
}

/** A person finds the question in the inbox and says yes. */
async function approve(wish: Wish, tool: OrderTool): Promise<void> {
  const { id } = await call(wish, tool);
  const { items } = await hf.approvals.list({ limit: 1_000 });
  const digest = items.find(({ operation }) => operation.id === id)?.digest ?? "";
  await hf.approvals.approve(id, { digest, by: "ana" });
  stage.note(`yes ${id} ${digest}`);
}
