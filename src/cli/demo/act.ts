/**
 * What an act is, and the three endings that the demo promises.
 *
 * @module
 */

import type { Holdfire } from "../../holdfire.ts";
import type { Scene } from "./scene.ts";

/** What a reader can count after an act. */
export interface Ending {
  /** How often the money went out. */
  readonly payouts: number;
  /** Requests to pay that arrived. */
  readonly posts: number;
  /** Requests that only looked. */
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

/** Nobody can read what happened: a person is asked, looks into the bank's books, and says what is there. */
export async function askPerson(hf: Holdfire, scene: Scene): Promise<void> {
  const { items } = await hf.operations.list({ open: true });
  for (const { id, key, tool, at } of items) {
    scene.say("asked", `Did ${tool} ${key.slice(0, 8)} happen? Nothing can read it.`);
    const isPaid = scene.bank.effects.length > 0;
    scene.say("person", `I looked into the books. ${isPaid ? "It did." : "It did not."}`);
    const as = isPaid ? "committed" : "not_applied";
    const { status, by } = await hf.operations.resolve(id, { as, by: "ben", asOf: at });
    scene.note(`${status}, by the word of ${by}`);
  }
}
