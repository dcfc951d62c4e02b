/**
 * Records with tags, written to through lanes by several holdfires on one store: as processes would.
 *
 * @module
 */

import { createHoldfire, type Holdfire } from "../../src/create.ts";
import type { GuardedTool } from "../../src/engine/call/guarded-tool.ts";
import type { AttemptContext } from "../../src/engine/define/definition.ts";
import type { Store } from "../../src/ledger/store.ts";
import { type FailingStore, failingStore } from "../engine/failing-store.ts";
import { type VirtualClock, virtualClock } from "../engine/virtual-clock.ts";

export const TENANT = "default";

export interface Tag {
  readonly record: string;
  readonly tag: string;
}

export type Fate = "commit" | "lose" | "refuse";

export interface LaneWorld {
  readonly clock: VirtualClock;
  readonly store: FailingStore;
  /** Tags in the order in which they were set. */
  readonly written: string[];
  /** Tags whose `run` has begun, in order. */
  readonly begun: string[];
  /** The most that were written to one record at a time. */
  most: number;
  /** How long a write takes, in milliseconds. */
  takesMs: number;
  /** What becomes of the next writes. */
  readonly fates: Fate[];
  holdfire(store?: Store): Holdfire;
  tagger(hf: Holdfire, options?: object): GuardedTool<Tag, string>;
}

export const nameOf = (record: string): string => `record/${record}`;

export function openLanes(): LaneWorld {
  const clock = virtualClock();
  const store = failingStore({ now: clock.now, forgets: "accepted" });
  const atOnce = new Map<string, number>();
  const world: LaneWorld = {
    clock,
    store,
    written: [],
    begun: [],
    most: 0,
    takesMs: 100,
    fates: [],
    holdfire: (given = store) =>
      createHoldfire({ store: given, surroundings: { clock, random: () => 0.5 } }),
    tagger: (hf, options = {}) =>
      hf.tool({
        name: "tag",
        kind: "write",
        onDrift: "allow",
        resource: ({ record }: Tag) => nameOf(record),
        ...options,
        run: (args: Tag, _: AttemptContext) => write(args),
      }),
  };
  async function write({ record, tag }: Tag): Promise<string> {
    const now = (atOnce.get(record) ?? 0) + 1;
    atOnce.set(record, now);
    world.most = Math.max(world.most, now);
    world.begun.push(tag);
    await new Promise<void>((resolve) => clock.after(world.takesMs, resolve));
    atOnce.set(record, (atOnce.get(record) ?? 0) - 1);
    const fate = world.fates.shift() ?? "commit";
    if (fate === "refuse") throw Object.assign(new Error("no"), { status: 400 });
    world.written.push(tag);
    if (fate === "lose") throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
    return tag;
  }
  return world;
}
