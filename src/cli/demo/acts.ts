/**
 * The three acts of the demo over plain HTTP, with nothing but what holdfire ships, and how each must end.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { createHoldfire } from "../../create.ts";
import { absent, committed } from "../../engine/define/reading.ts";
import { memoryStore } from "../../stores/memory.ts";
import { PAYOUT, type Scene } from "./scene.ts";

/** What a reader can count after an act. */
export interface Ending {
  /** How often the money went out. */
  readonly payouts: number;
  /** Requests to pay that arrived. */
  readonly posts: number;
  /** Requests that only read. */
  readonly reads: number;
  /** How the caller's story ends. */
  readonly outcome: string;
}

export interface Act {
  readonly title: string;
  readonly promised: Ending;
  /** Returns the outcome. */
  play(scene: Scene): Promise<string>;
}

export const PROMISED: Readonly<Record<"alone" | "guarded" | "blind", Ending>> = {
  alone: { payouts: 2, posts: 2, reads: 0, outcome: "done" },
  guarded: { payouts: 1, posts: 1, reads: 1, outcome: "done" },
  blind: { payouts: 1, posts: 1, reads: 0, outcome: "unknown, then done" },
};

/** Nothing can read what happened: a person is asked, checks the bank's records, and says what is there. */
export async function askPerson(hf: Holdfire, scene: Scene): Promise<void> {
  const { items } = await hf.operations.list({ open: true });
  for (const { id, key, tool, at } of items) {
    scene.say("asked", `Did ${tool} ${key.slice(0, 8)} happen? Nothing can read it.`);
    const isPaid = scene.bank.effects.length > 0;
    scene.say("person", `I checked the bank's records. ${isPaid ? "It did." : "It did not."}`);
    const as = isPaid ? "committed" : "not_applied";
    const { status, by } = await hf.operations.resolve(id, { as, by: "ben", asOf: at });
    scene.note(`${status}, by ${by}`);
  }
}

const SCOPE = "conversation-7/turn-3";

/** The loop everybody writes: it takes a lost reply for a no. */
async function alone({ bank }: Scene): Promise<string> {
  const client = bank.client("readable");
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.create(PAYOUT);
      return "done";
    } catch (error) {
      if (attempt === 3) throw error;
    }
  }
}

/** The same payout, the same fault; the lost reply becomes a read. */
async function guarded(scene: Scene): Promise<string> {
  const client = scene.bank.client("readable");
  const hf = createHoldfire({ app: "demo", store: memoryStore() });
  scene.watch(hf);
  const payOut = hf.tool({
    name: "pay_out",
    kind: "write",
    run: (payout: typeof PAYOUT, { key, signal }) => client.create(payout, { key, signal }),
    readState: async ({ key, signal }) => {
      const [found] = await client.find({ key }, { signal });
      return found ? committed(found, { effectId: found.id }) : absent();
    },
  });
  // A ledger that was just made has forgotten nothing: it need not be read first.
  const { status } = await hf.scope(SCOPE, () => payOut.outcome(PAYOUT), { fresh: true });
  await hf.close();
  return status === "committed" ? "done" : status;
}

/** Neither key nor read: nothing can find out, so nothing fires again, and a person is asked. */
async function blind(scene: Scene): Promise<string> {
  const client = scene.bank.client("neither");
  // The memory store takes such a tool only from someone who says that forgetting is acceptable.
  const hf = createHoldfire({ app: "demo", store: memoryStore({ forgets: "accepted" }) });
  scene.watch(hf);
  const payOut = hf.tool({
    name: "pay_out_by_fax",
    kind: "write",
    run: (payout: typeof PAYOUT, { signal }) => client.create(payout, { signal }),
  });
  const { message } = await payOut.reply(PAYOUT, { scope: SCOPE });
  scene.say("told", message);
  scene.say("caller", "calls again all the same");
  const { status } = await payOut.outcome(PAYOUT, { scope: SCOPE });
  await askPerson(hf, scene);
  scene.say("caller", "calls once more");
  const last = await payOut.outcome(PAYOUT, { scope: SCOPE });
  await hf.close();
  return `${status}, then ${last.status === "committed" ? "done" : last.status}`;
}

export const PLAIN_ACTS: readonly Act[] = [
  { title: "As everybody does it: a loop that tries again", promised: PROMISED.alone, play: alone },
  {
    title: "The same payout, the same loss, with holdfire",
    promised: PROMISED.guarded,
    play: guarded,
  },
  { title: "A tool with neither key nor read", promised: PROMISED.blind, play: blind },
];
