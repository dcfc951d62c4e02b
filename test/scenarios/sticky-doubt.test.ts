import { describe, expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { keysOf, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("doubt is sticky", () => {
  test.each([404, 412, 410, 403])(
    "a lost reply and then %i is not a no: without a reader it stays unknown",
    async (status) => {
      const { service, order, pass } = await openWorld();
      service.plan(faults.commitThenReset(), faults.status({ status }));
      const outcome = await pass(order("keyed").outcome(TEA, ONCE));
      expect(outcome).toMatchObject({
        status: "unknown",
        reason: "rejected_in_doubt",
        attempts: 2,
      });
      expect(service.arrivals).toHaveLength(2);
      expect(service.effects).toHaveLength(1);
    },
  );

  test("a lost reply and then a no is a reason to read: the commit is found", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.lateCommit(), faults.status({ status: 404 }));
    const tool = order("keyed_readable", {
      readState: async ({ key }) => {
        if (service.arrivals.length === 2) service.commitLate();
        const [found] = await client("keyed_readable").find({ key });
        return found ? committed(found) : absent();
      },
    });
    const outcome = await pass(tool.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2 });
    expect(service.effects).toHaveLength(1);
  });

  test("with a reader and a window, a proven absence makes the no a no", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore(), faults.status({ status: 404 }));
    const tool = order("keyed_readable", { commitsWithinMs: 2_000 });
    const outcome = await pass(tool.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 2 });
    expect(service.effects).toHaveLength(0);
  });

  test("a refused connection after a lost reply does not clear the lost one", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.commitThenReset());
    const keyed = order("keyed", {
      attempts: 2,
      classify: (error) =>
        (error as { unsent?: boolean }).unsent === true ? "not_sent" : undefined,
      run: async (args, { key, attempt }) => {
        if (attempt === 1) return client("keyed").create(args, { key });
        throw Object.assign(new Error("not sent"), { unsent: true, key });
      },
    });
    const outcome = await pass(keyed.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", attempts: 2 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("a licence must hold for every doubtful attempt, not for the last one", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.resetBefore(), faults.resetBefore());
    // The first attempt goes out without the key: no key can ever vouch for it.
    const keyed = order("keyed", {
      run: (args, context) =>
        context.attempt === 1
          ? client("keyed").create(args)
          : client("keyed").create(args, { key: context.key }),
    });
    const outcome = await pass(keyed.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("a doubt about an earlier key is not lifted by a later one", async () => {
    const { service, order, pass, hf } = await openWorld();
    service.plan(faults.storedFailure({ status: 404 }), faults.resetBefore(), faults.resetBefore());
    const keyed = order("keyed", { attempts: 1 });
    const first = await pass(keyed.outcome(TEA, ONCE));
    const second = await pass(keyed.outcome(TEA, { ...ONCE, retry: "once more" }));
    expect(second).toMatchObject({ status: "unknown" });
    expect(second.key).not.toBe(first.key);
    const third = await pass(keyed.outcome(TEA, { ...ONCE, retry: "and again" }));
    expect(third).toMatchObject({ status: "unknown", key: second.key });
    const view = await hf.operations.get(first.id);
    expect(view?.attempts.map(({ generation }) => generation)).toEqual([0, 1, 1]);
  });

  test("a key that was rejected is followed by the next, also where an earlier request with it was proved absent", async () => {
    const { service, order, pass } = await openWorld();
    const both = order("keyed_readable", { commitsWithinMs: 1_000 });
    service.plan(faults.resetBefore(), faults.storedFailure({ status: 404 }));
    const first = await pass(both.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 2 });
    const second = await pass(both.outcome(TEA, { ...ONCE, retry: "the card was topped up" }));
    expect(second).toMatchObject({ status: "committed", attempts: 3 });
    expect(keysOf(service)).toEqual([first.key, first.key, second.key]);
    expect(second.key).not.toBe(first.key);
  });

  test("a key that was rejected is kept where an earlier request went out without it", async () => {
    const { service, order, pass, client } = await openWorld();
    service.plan(faults.resetBefore(), faults.storedFailure({ status: 404 }));
    const both = order("keyed_readable", {
      commitsWithinMs: 1_000,
      run: (args, context) =>
        context.attempt === 1
          ? client("keyed_readable").create(args)
          : client("keyed_readable").create(args, { key: context.key }),
    });
    const first = await pass(both.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "not_applied", reason: "rejected", attempts: 2 });
    const second = await pass(both.outcome(TEA, { ...ONCE, retry: "the card was topped up" }));
    expect(second).toMatchObject({ attempts: 3, key: first.key });
  });

  test("`retry` does not fire what is unknown", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    const mail = order("neither");
    await pass(mail.outcome(TEA, ONCE));
    const again = await pass(mail.outcome(TEA, { ...ONCE, retry: "I am sure" }));
    expect(again).toMatchObject({ status: "unknown", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("a reader must earn its word", () => {
  test("one that cannot find a commit we know of is blind, and has no absent licence from then on", async () => {
    const { service, order, pass, clock, heard } = await openWorld();
    const blind = order("readable", { commitsWithinMs: 1_000, readState: async () => absent() });
    expect(await pass(blind.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(heard("warning", "reader_blind")).toEqual([]);
    await clock.advance(1_000);
    expect(heard("warning", "reader_blind")).toHaveLength(1);
    service.plan(faults.commitThenReset());
    const outcome = await pass(blind.outcome({ item: "milk" }, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "reader_blind", attempts: 1 });
    expect(service.arrivals).toHaveLength(2);
  });

  test("it is asked once, and one that finds its commit is believed", async () => {
    const { service, order, pass, clock, heard } = await openWorld();
    const readable = order("readable", { commitsWithinMs: 1_000 });
    await pass(readable.outcome(TEA, ONCE));
    await pass(clock.advance(1_000));
    await pass(Promise.resolve());
    await pass(readable.outcome({ item: "milk" }, ONCE));
    await clock.advance(5_000);
    expect(heard("warning", "reader_blind")).toEqual([]);
    expect(service.reads).toHaveLength(1);
  });

  test("one that could not tell is asked again after the next commit", async () => {
    const { order, pass, clock, heard } = await openWorld();
    let broken = true;
    const readable = order("readable", {
      commitsWithinMs: 0,
      readState: async () => {
        if (broken) throw new Error("down");
        return absent();
      },
    });
    await pass(readable.outcome(TEA, ONCE));
    await clock.advance(1);
    broken = false;
    await pass(readable.outcome({ item: "milk" }, ONCE));
    await clock.advance(1);
    expect(heard("warning", "reader_blind")).toHaveLength(1);
  });
});

describe("a person's word (person)", () => {
  test("as committed: the call is answered from the record, its result is lost", async () => {
    const { service, order, pass, hf } = await openWorld();
    service.plan(faults.commitThenReset());
    const mail = order("neither");
    const { id } = await pass(mail.outcome(TEA, ONCE));
    const view = await hf.operations.resolve(id, { as: "committed", by: "ana", note: "saw it" });
    expect(view).toMatchObject({ status: "committed", by: "ana", note: "saw it", open: false });
    const again = await pass(mail.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "committed", replayed: true, resultLost: true });
    expect(service.arrivals).toHaveLength(1);
  });

  test("as not applied: the same call fires again, with the same key", async () => {
    const { service, order, pass, hf } = await openWorld();
    service.plan(faults.resetBefore());
    const mail = order("neither");
    const first = await pass(mail.outcome(TEA, ONCE));
    await hf.operations.resolve(first.id, { as: "not_applied", by: "ana" });
    const second = await pass(mail.outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "committed", licence: "person", key: first.key });
    expect(service.effects).toHaveLength(1);
  });

  test("is refused on what is settled, on what is not there, and without a name", async () => {
    const { order, pass, hf } = await openWorld();
    const { id } = await pass(order("neither").outcome(TEA, ONCE));
    const as = "committed" as const;
    await expect(hf.operations.resolve(id, { as, by: "ana" })).rejects.toThrow("settled already");
    await expect(hf.operations.resolve("nobody", { as, by: "ana" })).rejects.toThrow("no such");
    await expect(hf.operations.resolve(id, { as, by: "" })).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
    });
    await expect(
      hf.operations.resolve(id, { as: "maybe" as never, by: "ana" }),
    ).rejects.toMatchObject({ path: "as" });
  });

  test("is refused while somebody is at it", async () => {
    const { service, order, arrived, hf, clock } = await openWorld();
    service.plan(faults.blackHole({ commit: false }));
    const call = order("neither").outcome(TEA, ONCE);
    await arrived(1);
    const { items } = await hf.operations.list({ open: true });
    const id = items[0]?.id ?? "";
    await expect(hf.operations.resolve(id, { as: "committed", by: "ana" })).rejects.toThrow(
      "is owned by another process",
    );
    await clock.advance(60_000);
    await call;
  });
});
