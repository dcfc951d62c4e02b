import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire } from "../../src/create.ts";
import type { AttemptContext } from "../../src/engine/define/definition.ts";
import { absent } from "../../src/engine/define/reading.ts";
import type { Stored } from "../../src/ledger/record.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { type LaneWorld, openLanes, TENANT } from "./lane-world.ts";

let world: LaneWorld;
let version: number;
let compared: unknown[];

beforeEach(() => {
  world = openLanes();
  version = 0;
  compared = [];
});

/** Sets a value if the version is still the one that was read. */
const setter = (hf: Holdfire, options: object = {}) =>
  hf.tool({
    name: "set",
    kind: "write",
    onDrift: "allow",
    precondition: () => version,
    classify: (error) => ((error as { status?: number }).status === 412 ? "rejected" : undefined),
    ...options,
    run: async (args: { readonly to: string }, { precondition }: AttemptContext) => {
      compared.push(precondition);
      await new Promise<void>((resolve) => world.clock.after(50, resolve));
      if (precondition !== version) {
        throw Object.assign(new Error("it has changed"), { status: 412 });
      }
      version += 1;
      return args.to;
    },
  });

const both = (options: object) => {
  const calls = ["a", "b"].map((to) =>
    setter(world.holdfire(), options).outcome({ to }, { scope: to }),
  );
  return world.clock.run(Promise.all(calls));
};

describe("two that compare and set at once", () => {
  test("without a lane: the second is told no, and nothing of it happened", async () => {
    const outcomes = await both({});
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["committed", "not_applied"]);
    expect(version).toBe(1);
  });

  test("with a lane: each reads what it compares when its turn has come, and both do it", async () => {
    const outcomes = await both({ resource: () => "setting" });
    expect(outcomes.map(({ status }) => status)).toEqual(["committed", "committed"]);
    expect(compared).toEqual([0, 1]);
    expect(version).toBe(2);
  });
});

describe("what is to be compared", () => {
  test("is read anew when another gave the operation back unsent", async () => {
    const reading = { readFirst: true, readState: () => new Promise<never>(() => {}) };
    const stop = new AbortController();
    const first = setter(world.holdfire(), reading);
    const left = first.outcome({ to: "a" }, { scope: "s", signal: stop.signal });
    await world.clock.advance(10);
    const plain = { readState: async () => absent() };
    const second = setter(world.holdfire(), plain).outcome({ to: "a" }, { scope: "s" });
    await world.clock.advance(10);
    stop.abort();
    await world.clock.run(left);
    expect(await world.clock.run(second)).toMatchObject({ status: "committed" });
    expect(compared).toEqual([0]);
  });

  test("is never left out, also when the operation was known a moment ago", async () => {
    const store = Object.create(world.store) as typeof world.store;
    let known = true;
    const state = { tag: "claimed", holder: "gone" } as const;
    Object.assign(store, {
      read: async (tenant: string, id: string) => {
        const found = await world.store.read(tenant, id);
        if (!known) return found;
        known = false;
        const record = recordOf({ tenant: TENANT, id, state });
        const stored: Stored = { record, version: 1, leaseUntil: undefined };
        return { ...found, stored };
      },
    });
    const set = setter(world.holdfire(store));
    const outcome = await world.clock.run(set.outcome({ to: "a" }, { scope: "s" }));
    expect(known).toBe(false);
    expect(outcome).toMatchObject({ status: "committed" });
    expect(compared).toEqual([0]);
  });
});
