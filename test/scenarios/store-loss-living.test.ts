import { describe, expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { memoryWitness } from "../../src/ledger/witness/witness.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { LOSSES } from "../crash/losses.ts";
import { ask, callAll, expectNothingNew, startLossyWorld } from "../crash/lossy-world.ts";
import { until, virtualClock } from "../engine/virtual-clock.ts";

const LIVING = LOSSES.filter(({ hitsTheLiving }) => hitsTheLiving);

describe.each(LIVING)("$says under a living process", ({ start, keepsOlder }) => {
  test("it notices, and nothing minted before is sent as new", async ({ skip }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    const opened = await world.open();
    await callAll(opened, "older");
    await world.ledger.remember();
    await callAll(opened, "newer");
    expect(opened.suspicions).toEqual([]);
    await world.ledger.lose();
    await expectNothingNew(opened, world);
    if (keepsOlder) {
      expect(await ask(opened.tools.neither, "older")).toMatchObject({
        status: "committed",
        replayed: true,
      });
    }
  });

  test("what is on its way meanwhile ends as it ended, and is written down anew", async ({
    skip,
  }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    const { service, ledger } = world;
    const { tools, suspicions, sends, hf } = await world.open();
    await ask(tools.neither, "older");
    await ledger.remember();
    service.plan(faults.slow({ ms: 1_500, commit: "before" }));
    const calling = ask(tools.neither, "newer");
    await until(() => service.effects.length === 2);
    await ledger.lose();
    expect(await calling).toMatchObject({ status: "committed", replayed: false });
    expect(suspicions).toHaveLength(1);

    expect(await ask(tools.neither, "newer")).toMatchObject({
      status: "committed",
      replayed: true,
    });
    expect(sends("neither", "newer")).toBe(1);
    expect((await hf.operations.list({ open: true })).items).toEqual([]);
  });

  test("a process that starts beside it does not send again either", async ({ skip }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    const living = await world.open();
    await callAll(living, "older");
    await world.ledger.remember();
    await callAll(living, "newer");
    await world.ledger.lose();
    await expectNothingNew(living, world);

    const beside = await world.open();
    const arrivals = world.service.arrivals.length;
    expect(await ask(beside.tools.neither, "newer")).toMatchObject({ status: "unknown" });
    expect(await ask(beside.tools.neither, "new")).toMatchObject({ status: "unknown" });
    expect(beside.suspicions).toHaveLength(1);
    expect(world.service.arrivals).toHaveLength(arrivals);
  });

  test("it goes on once a person vouches for the ledger", async ({ skip }) => {
    const world = await startLossyWorld(start);
    if (!world) return skip();
    const { tools, hf, sends, suspicions } = await world.open();
    await callAll({ tools, hf, sends, suspicions, close: async () => {} }, "newer");
    await world.ledger.remember();
    await ask(tools.neither, "newest");
    await world.ledger.lose();
    expect(await ask(tools.neither, "newest")).toMatchObject({ status: "unknown" });
    await hf.trust({ by: "ana" });
    expect(await ask(tools.neither, "new")).toMatchObject({ status: "committed" });
    expect(await ask(tools.neither, "newest")).toMatchObject({
      status: "unknown",
      reason: "store_lost",
    });
    expect(suspicions).toHaveLength(1);
    expect(sends("neither", "newest")).toBe(1);
  });
});

test("a loss that another process found is heard of, also when the store is past the mark again", async () => {
  const clock = virtualClock();
  let inner = memoryStore({ now: clock.now, forgets: "accepted" });
  const store = new Proxy(inner, { get: (_, name) => Reflect.get(inner, name) });
  const witness = memoryWitness();
  const sent: string[] = [];
  const start = () =>
    createHoldfire({ store, witness, surroundings: { clock, random: () => 0.5 } }).tool({
      name: "pay",
      kind: "write",
      run: async ({ id }: { id: string }) => sent.push(id),
    });
  const [one, other] = [start(), start()];
  await clock.run(one({ id: "x" }, { scope: "s" }));
  await clock.run(other({ id: "y" }, { scope: "s" }));
  inner = memoryStore({ now: clock.now, forgets: "accepted" });
  for (const id of ["1", "2", "3", "4"]) {
    expect(await clock.run(other.outcome({ id }, { scope: "s" }))).toMatchObject({
      status: "unknown",
      reason: "store_lost",
    });
  }
  expect(await clock.run(one.outcome({ id: "x" }, { scope: "s" }))).toMatchObject({
    status: "unknown",
    reason: "store_lost",
  });
  expect(sent).toEqual(["x", "y"]);
});

test("a precondition that is read anew does not vouch for what was sent with the one that is lost", async () => {
  const clock = virtualClock();
  const newStore = () => memoryStore({ now: clock.now, forgets: "accepted" });
  let inner = newStore();
  const store = new Proxy(inner, { get: (_, name) => Reflect.get(inner, name) });
  let version = 1;
  const put = createHoldfire({ store, surroundings: { clock, random: () => 0.5 } }).tool({
    name: "put",
    kind: "write",
    precondition: () => version,
    run: async (_: { id: string }, { precondition }) => {
      if (precondition !== version) throw new Error("412");
      version += 1;
      return version;
    },
  });
  await clock.run(put({ id: "x" }, { scope: "s" }));
  inner = newStore();
  expect(await clock.run(put.outcome({ id: "x" }, { scope: "s" }))).toMatchObject({
    status: "unknown",
    reason: "store_lost",
  });
  expect(version).toBe(2);
});

test("what an older ledger says was not applied is not fired on its word", async () => {
  const clock = virtualClock();
  const newStore = () => memoryStore({ now: clock.now, forgets: "accepted" });
  let inner = newStore();
  const store = new Proxy(inner, { get: (_, name) => Reflect.get(inner, name) });
  let refuses = true;
  let sent = 0;
  const hf = createHoldfire({
    store,
    witness: memoryWitness(),
    retry: { attempts: 1, cooldownMs: 1 },
    surroundings: { clock, random: () => 0.5 },
  });
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: { id: string }) => {
      sent += 1;
      if (refuses) throw new Error("not now");
    },
    classify: () => (refuses ? "refused" : undefined),
  });
  const call = () => clock.run(pay.outcome({ id: "x" }, { scope: "s" }));
  const { id } = await call();
  const older = (await inner.read("default", id)).stored?.record;
  expect(older?.state.tag).toBe("not_applied");
  refuses = false;
  await clock.advance(10);
  expect((await call()).status).toBe("committed");
  expect(sent).toBe(2);
  // The copy from before the second call is put back.
  inner = newStore();
  await inner.swap({ tenant: "default", id, expect: 0, record: older, lease: "none" });
  await clock.advance(10);
  expect(await call()).toMatchObject({ status: "unknown" });
  expect(await call()).toMatchObject({ status: "unknown" });
  expect(sent).toBe(2);
});
