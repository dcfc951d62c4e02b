import { describe, expect, test } from "vitest";
import { StoreUnavailableError } from "../../src/errors.ts";
import { faults } from "../../src/testing/faulty-service.ts";
import { type FailingStore, failingStore, type Trouble } from "../engine/failing-store.ts";
import { until } from "../engine/virtual-clock.ts";
import { openWorld, TEA, type World, type WorldOptions } from "./world.ts";

const ONCE = { scope: "s" };

/** A world on a store that can be put in trouble. */
async function openTroubled(
  options: WorldOptions = {},
): Promise<World & { readonly failing: FailingStore }> {
  const made: FailingStore[] = [];
  const world = await openWorld({
    ...options,
    store: (now) => {
      const store = failingStore({ now, forgets: "accepted" });
      made.push(store);
      return store;
    },
  });
  const [failing] = made;
  if (!failing) throw new Error("The store was not made.");
  return { ...world, failing };
}

const isClaim = (step: string) => step === "swap:claimed";
const isSettle = (step: string) => step === "swap:committed" || step === "swap:unknown";

describe("the store is down at the claim", () => {
  test("nothing is sent, and the error says so", async () => {
    const { service, order, pass, failing, heard } = await openTroubled();
    failing.fail("rejects", isClaim);
    const call = pass(order("neither")(TEA, ONCE));
    await expect(call).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(call).rejects.toMatchObject({ reason: "claim", isRetryable: false, status: 409 });
    expect(heard("store", "error")).toMatchObject([{ step: "claim" }]);
    expect(service.arrivals).toHaveLength(0);
  });

  test("a claim that hangs gets only what a call has left that has waited for something else before", async () => {
    const { service, order, pass, failing, clock } = await openTroubled();
    const slow = order("conditional", {
      precondition: async () => {
        await new Promise<void>((resolve) => clock.after(6_000, resolve));
        return "etag";
      },
      readTimeoutMs: 10_000,
    });
    failing.fail("hangs", isClaim);
    const call = pass(slow(TEA, { ...ONCE, deadlineMs: 8_000 }));
    await expect(call).rejects.toBeInstanceOf(StoreUnavailableError);
    expect(clock.monotonic()).toBe(8_000);
    expect(service.arrivals).toHaveLength(0);
  });

  test("the same call goes through when it is back", async () => {
    const { service, order, pass, failing } = await openTroubled();
    const mail = order("neither");
    failing.fail("rejects");
    await expect(pass(mail(TEA, ONCE))).rejects.toBeInstanceOf(StoreUnavailableError);
    failing.recover();
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });

  test("a store that cannot be opened sends nothing, and is opened by the next call", async () => {
    const { service, order, pass, failing } = await openTroubled();
    const mail = order("neither");
    failing.fail("rejects", (step) => step === "open");
    await expect(pass(mail(TEA, ONCE))).rejects.toMatchObject({ reason: "open" });
    failing.recover();
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(1);
  });

  test.each<Trouble>(["hangs", "loses-replies"])(
    "one that %s is given up after its time, and the claim is withdrawn by its holder's name",
    async (trouble) => {
      const { service, order, pass, failing, hf, clock } = await openTroubled();
      const mail = order("neither");
      failing.fail(trouble, isClaim);
      const call = pass(mail(TEA, ONCE));
      await expect(call).rejects.toBeInstanceOf(StoreUnavailableError);
      expect(service.arrivals).toHaveLength(0);
      failing.recover();
      await clock.advance(60_000);
      expect((await hf.operations.list()).items).toEqual([]);
      const again = await pass(mail.outcome(TEA, ONCE));
      expect(again).toMatchObject({ status: "committed", replayed: false, attempts: 1 });
      expect(service.arrivals).toHaveLength(1);
    },
  );

  test("a claim that cannot be withdrawn yet is withdrawn when the store is back", async () => {
    const { service, order, pass, failing, hf, clock } = await openTroubled();
    failing.fail("loses-replies", (step) => isClaim(step) || step === "swap:removed");
    const call = pass(order("neither")(TEA, ONCE));
    await expect(call).rejects.toBeInstanceOf(StoreUnavailableError);
    failing.fail("rejects");
    await clock.advance(120_000);
    failing.recover();
    await clock.advance(60_000);
    expect((await hf.operations.list()).items).toEqual([]);
    expect(service.arrivals).toHaveLength(0);
  });
});

describe("the store is down at the note of a resend", () => {
  test("nothing more is sent: unknown, reason store-down", async () => {
    const { service, order, pass, failing, heard } = await openTroubled();
    service.plan(faults.resetBefore());
    let claims = 0;
    failing.fail("rejects", (step) => {
      if (isClaim(step)) claims += 1;
      return isClaim(step) && claims === 2;
    });
    const outcome = await pass(order("keyed").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "store_down", attempts: 1 });
    expect(heard("outcome", "unknown")).toMatchObject([{ reason: "store_down" }]);
    expect(service.arrivals).toHaveLength(1);
  });

  test("a note whose answer was lost, and which was not fired, leaves no trace", async () => {
    const { service, order, pass, failing, clock, hf } = await openTroubled();
    service.plan(faults.status({ status: 429 }));
    let claims = 0;
    failing.fail("loses-replies", (step) => {
      if (isClaim(step)) claims += 1;
      return isClaim(step) && claims === 2;
    });
    const mail = order("neither", { refuses: [429] });
    const outcome = await pass(mail.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "not_applied", reason: "refused" });
    const view = await hf.operations.get(outcome.id);
    expect(view?.attempts.map(({ verdict }) => verdict)).toEqual(["refused"]);
    failing.recover();
    await clock.advance(30_000);
    service.plan(faults.status({ status: 404 }));
    const again = await pass(mail.outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "not_applied", reason: "rejected" });
    expect(service.arrivals).toHaveLength(2);
  });
});

describe("the store is down at the settle", () => {
  test.each<Trouble>(["rejects", "hangs", "loses-replies"])(
    "one that %s: the caller gets the true result, flagged, and it is recorded later",
    async (trouble) => {
      const { service, order, pass, failing, heard, clock, hf } = await openTroubled();
      failing.fail(trouble, isSettle);
      const outcome = await pass(order("neither").outcome(TEA, ONCE));
      expect(outcome).toMatchObject({
        status: "committed",
        recorded: false,
        result: { id: service.effects[0]?.effectId },
      });
      expect(heard("store", "unrecorded")).toHaveLength(1);
      failing.recover();
      await clock.advance(60_000);
      expect(heard("store", "recorded")).toHaveLength(1);
      expect(await hf.operations.get(outcome.id)).toMatchObject({ status: "committed" });
      expect(service.arrivals).toHaveLength(1);
    },
  );

  test("a repeated call in this process waits for the record, and sends nothing", async () => {
    const { service, order, pass, failing, clock } = await openTroubled();
    const mail = order("neither");
    failing.fail("rejects", isSettle);
    await pass(mail.outcome(TEA, ONCE));
    const again = mail.outcome(TEA, ONCE);
    await clock.advance(2_000);
    failing.recover();
    expect(await pass(again)).toMatchObject({ status: "committed", replayed: true });
    expect(service.arrivals).toHaveLength(1);
  });

  test("a call repeated while the store is down is told that at once, and sends nothing", async () => {
    const { service, order, pass, failing, clock } = await openTroubled();
    const mail = order("keyed");
    failing.fail("rejects", isSettle);
    expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({ recorded: false });
    failing.fail("rejects", () => true);
    const before = clock.monotonic();
    await expect(pass(mail.outcome(TEA, ONCE))).rejects.toMatchObject({ reason: "claim" });
    expect(clock.monotonic()).toBe(before);
    expect(service.arrivals).toHaveLength(1);
  });

  test("a call repeated while that cannot be written, its lease long over, waits and sends nothing", async () => {
    const { service, order, pass, failing, clock } = await openTroubled();
    const mail = order("keyed");
    failing.fail("rejects", isSettle);
    await pass(mail.outcome(TEA, ONCE));
    await clock.advance(60_000);
    const again = mail.outcome(TEA, ONCE);
    await clock.advance(2_000);
    expect(service.arrivals).toHaveLength(1);
    failing.recover();
    expect(await pass(again)).toMatchObject({ status: "committed", replayed: true });
    expect(service.arrivals).toHaveLength(1);
  });

  test.each(["keyed", "readable", "neither"] as const)(
    "%s: a call repeated as soon as the store is back, its lease long over, is told the same and sends nothing",
    async (toolClass) => {
      const { service, order, pass, failing, clock } = await openTroubled();
      const mail = order(toolClass);
      failing.fail("rejects", isSettle);
      const first = await pass(mail.outcome(TEA, ONCE));
      expect(first).toMatchObject({ status: "committed", recorded: false });
      // Now and then the settle is tried again; the call comes between two tries.
      await clock.advance(20_000);
      failing.recover();
      expect(await pass(mail.outcome(TEA, ONCE))).toMatchObject({
        status: "committed",
        replayed: true,
        result: { id: service.effects[0]?.effectId },
      });
      expect(service.arrivals).toHaveLength(1);
    },
  );

  test("the next process reads: it does not send", async () => {
    const { service, order, failing, clock, another, pass } = await openTroubled();
    failing.fail("rejects", isSettle);
    await pass(order("readable").outcome(TEA, ONCE));
    // The process is gone before the store is back: nobody records it.
    await clock.advance(30_000);
    failing.fail("rejects", (step) => step === "swap:committed" && false);
    const next = await pass(order("readable", {}, another()).outcome(TEA, ONCE));
    expect(next).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("an unknown outcome is flagged and recorded in the same way", async () => {
    const { service, order, pass, failing, clock, hf } = await openTroubled();
    service.plan(faults.commitThenReset());
    failing.fail("rejects", isSettle);
    const outcome = await pass(order("neither").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", recorded: false });
    failing.recover();
    await clock.advance(60_000);
    expect(await hf.operations.get(outcome.id)).toMatchObject({ status: "unknown" });
  });

  test("a payload that the store cannot take does not undo the commit", async () => {
    const { service, order, pass, failing } = await openTroubled();
    failing.fail("rejects", (step) => step === "own");
    const mail = order("neither", { effect: { id: ({ id }) => id } });
    const outcome = await pass(mail.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", recorded: true });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("the store is down while the state is read", () => {
  test("an effect whose owner cannot be asked is nobody's: cannot tell", async () => {
    const { service, order, pass, failing } = await openTroubled();
    service.plan(faults.commitThenReset());
    failing.fail("rejects", (step) => step === "own");
    const outcome = await pass(order("readable").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
    failing.recover();
    const again = await pass(order("readable").outcome(TEA, ONCE));
    expect(again).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
  });
});

describe("the store is down for a late reply", () => {
  test("it is filed when the store is back", async () => {
    const { service, order, pass, failing, clock, heard, hf } = await openTroubled();
    let land: (result: never) => void = () => {};
    const mail = order("neither", {
      run: () =>
        new Promise((resolve) => {
          land = resolve;
        }),
    });
    const call = mail.outcome(TEA, ONCE);
    await clock.advance(10_000);
    const { id } = await pass(call);
    failing.fail("rejects");
    land({ id: "ef_1" } as never);
    await until(() => heard("late").length > 0);
    await clock.advance(20_000);
    failing.recover();
    await clock.advance(20_000);
    expect(await hf.operations.get(id)).toMatchObject({ status: "committed" });
    expect(service.arrivals).toHaveLength(0);
  });
});

describe("the store is down while a run goes on that was given up", () => {
  test("this process still knows that it has not ended: no absent licence", async () => {
    const { service, order, pass, failing, clock } = await openTroubled();
    const readable = order("readable", {
      commitsWithinMs: 1_000,
      run: () => new Promise(() => {}),
    });
    const first = await pass(readable.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "in_progress", attempts: 1 });
    failing.fail("rejects");
    await clock.advance(3_600_000);
    failing.recover();
    const second = await pass(readable.outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "unknown", reason: "deadline", attempts: 1 });
    expect(service.arrivals).toHaveLength(0);
  });
});

describe("operations and approvals on a store that is down", () => {
  test("say so instead of hanging", async () => {
    const { hf, pass, failing } = await openTroubled();
    failing.fail("hangs");
    await expect(pass(hf.operations.list())).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(pass(hf.operations.get("x"))).rejects.toBeInstanceOf(StoreUnavailableError);
    await expect(pass(hf.approvals.list())).rejects.toBeInstanceOf(StoreUnavailableError);
  });
});
