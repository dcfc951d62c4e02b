/** Two programs with one account at a service: `app` keeps their keys apart. */
import { describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { absent, type StateQuery } from "../../src/engine/define/reading.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { keysOf, listen, lookUp, openWorld, TEA, type World } from "./world.ts";

const SCOPE = { scope: "daily/2026-11-17" };

/** A program on a ledger of its own, at the same service. */
const program = (world: World, app: string | undefined) => {
  const store = memoryStore({ now: world.clock.now, forgets: "accepted" });
  return world.another({ store, app });
};

describe("two programs with one service account", () => {
  test("the same scope, tool and intent are two keys and two effects", async () => {
    const world = await openWorld();
    for (const app of ["billing-agent", "support-agent"]) {
      const order = world.order("keyed", {}, program(world, app));
      expect(await world.pass(order.outcome(TEA, SCOPE))).toMatchObject({ status: "committed" });
    }
    expect(new Set(keysOf(world.service)).size).toBe(2);
    expect(world.service.effects).toHaveLength(2);
  });

  test("a key of the caller's own is another key in another program", async () => {
    const world = await openWorld();
    const keys: string[] = [];
    for (const app of ["billing-agent", "support-agent"]) {
      await program(world, app).run({
        name: "pay_invoice",
        kind: "write",
        key: "invoice-42",
        args: TEA,
        keyed: { forMs: 1_000 },
        run: (_: typeof TEA, { key }) => keys.push(key),
      });
    }
    expect(new Set(keys).size).toBe(2);
  });

  test("two processes of one program mint the same key", async () => {
    const world = await openWorld();
    for (const _ of [1, 2]) {
      const order = world.order("keyed", {}, program(world, "billing-agent"));
      expect(await world.pass(order.outcome(TEA, SCOPE))).toMatchObject({ status: "committed" });
    }
    expect(new Set(keysOf(world.service)).size).toBe(1);
    expect(world.service.effects).toHaveLength(1);
  });
});

describe.each([
  ["two programs", "support-agent", "mail", { otherApp: 1, noTool: {} }],
  [
    "two processes of one program",
    "billing-agent",
    "slack",
    { otherApp: 0, noTool: { notify: 1 } },
  ],
])(
  "%s on one ledger, with tools of one name and accounts of their own",
  (_, app, service, skipped) => {
    const OPTIONS = {
      name: "notify",
      service: "mail",
      commitsWithinMs: 1_000,
      attempts: 1,
      deadlineMs: 5_000,
    } as const;

    /** One that lost a reply, and cannot look at present; and one that looks elsewhere, and finds nothing. */
    async function openTwo() {
      const world = await openWorld();
      const billing = world.another({ app: "billing-agent" });
      const support = world.another({ app });
      let isDown = true;
      const client = world.client("readable");
      const readState = (query: StateQuery<unknown>) =>
        isDown ? Promise.reject(new Error("down")) : lookUp(client)(query);
      const pay = world.order("readable", { ...OPTIONS, readState }, billing);
      world.order("readable", { ...OPTIONS, service, readState: async () => absent() }, support);
      const lookAgain = () => {
        isDown = false;
      };
      return { ...world, billing, support, pay, lookAgain };
    }

    test("one does not settle what the other has open, and it is done once", async () => {
      const { service, support, pay, pass, clock, lookAgain } = await openTwo();
      service.plan(faults.commitThenReset());
      expect(await pass(pay.outcome(TEA, SCOPE))).toMatchObject({ status: "unknown" });
      await pass(new Promise<void>((resolve) => clock.after(60_000, resolve)));
      expect(await pass(support.reconcile())).toMatchObject({
        checked: 0,
        notApplied: 0,
        skipped,
      });
      lookAgain();
      await pass(new Promise<void>((resolve) => clock.after(60_000, resolve)));
      expect(await pass(pay.outcome(TEA, SCOPE))).toMatchObject({
        status: "committed",
        via: "read",
      });
      expect(service.effects).toHaveLength(1);
    });

    test("one does not look for what the other has done: nothing is called gone, and no reader blind", async () => {
      const { support, pay, pass, clock, lookAgain } = await openTwo();
      lookAgain();
      const heard = listen(support);
      for (const item of ["tea", "milk", "cake"]) await pass(pay({ item }, SCOPE));
      await pass(new Promise<void>((resolve) => clock.after(60_000, resolve)));
      const report = await pass(support.driftReport());
      expect(report).toMatchObject({ checked: 0, findings: [] });
      await pass(support.reconcile());
      expect(heard("warning", "reader_blind")).toHaveLength(0);
    });
  },
);

describe("a program without a name", () => {
  test("is warned once, at its first keyed write", async () => {
    const world = await openWorld();
    const hf = program(world, undefined);
    const heard = listen(hf);
    await world.pass(world.order("readable", {}, hf)(TEA, SCOPE));
    expect(heard("warning", "no_app")).toHaveLength(0);
    const order = world.order("keyed", {}, hf);
    await world.pass(order(TEA, SCOPE));
    await world.pass(order({ item: "milk" }, SCOPE));
    expect(heard("warning", "no_app")).toMatchObject([{ tool: "order_keyed" }]);
  });

  test("has the same keys in every folder: no name is derived", async () => {
    const world = await openWorld();
    const ids = await Promise.all(
      [1, 2].map(
        async () =>
          (
            await world.pass(
              world.order("keyed", {}, program(world, undefined)).outcome(TEA, SCOPE),
            )
          ).id,
      ),
    );
    expect(ids[0]).toBe(ids[1]);
  });

  test("a named one is not warned", async () => {
    const world = await openWorld();
    const hf = program(world, "billing-agent");
    const heard = listen(hf);
    await world.pass(world.order("keyed", {}, hf)(TEA, SCOPE));
    expect(heard("warning", "no_app")).toHaveLength(0);
  });
});

test.each([
  ["an empty name", ""],
  ["a number", 7],
  ["white space around it", " a "],
])("%s is refused", (_, app) => {
  expect(() => createHoldfire({ app: app as string, store: memoryStore() })).toThrow(/app/);
});
