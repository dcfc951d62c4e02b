/**
 * A bucket that can only be dropped with a person's yes.
 *
 * @module
 */

import { createHoldfire, type Holdfire, type HoldfireOptions } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { Plan } from "../../src/engine/define/definition.ts";
import type { Approval } from "../../src/gate/approvals.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";

export const ONCE = { scope: "s" };
export const DAY_MS = 86_400_000;
export const LOGS: Drop = { bucket: "logs" };

export interface Drop {
  readonly bucket: string;
  readonly note?: string;
}

export interface BucketWorld {
  readonly clock: VirtualClock;
  readonly store: Store;
  /** What was dropped, each time. */
  readonly runs: unknown[];
  /** What `plan` says; tests change it. */
  plan: Plan;
  holdfire(options?: Partial<HoldfireOptions>): Holdfire;
  drop(hf: Holdfire, options?: object): GuardedTool<Drop, string>;
}

export function openBucket(): BucketWorld {
  const clock = virtualClock();
  const store = memoryStore({ now: clock.now });
  const runs: unknown[] = [];
  const world: BucketWorld = {
    clock,
    store,
    runs,
    plan: { changes: [{ type: "delete", target: "bucket/logs" }] },
    holdfire: (options) =>
      createHoldfire({ store, surroundings: { clock, random: () => 0.5 }, ...options }),
    drop: (hf, options = {}) =>
      hf.tool({
        name: "drop_bucket",
        kind: "destructive",
        keyed: { forMs: DAY_MS },
        alsoDoes: ["e-mails the owner"],
        plan: () => world.plan,
        ...options,
        run: async (args: Drop, { key }) => {
          runs.push({ ...args, key });
          return "dropped";
        },
      }),
  };
  return world;
}

/** The one question that waits. */
export async function waiting(hf: Holdfire): Promise<Approval> {
  const { items } = await hf.approvals.list();
  const [only] = items;
  if (!only || items.length > 1) throw new Error(`${items.length} questions wait.`);
  return only;
}
