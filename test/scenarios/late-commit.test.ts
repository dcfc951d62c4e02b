import { describe, expect, test } from "vitest";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { faults, readFaults } from "../../src/testing/faulty-service.ts";
import { keysOf, lookUp, openWorld, TEA } from "./world.ts";

const ONCE = { scope: "s" };

describe("the request is committed after its connection was lost", () => {
  test("a read that says absent licenses nothing before the window has passed: 3 s late, window 5 s, one effect", async () => {
    const { service, order, pass, heard } = await openWorld();
    service.plan(faults.lateCommit({ afterMs: 3_000 }));
    const readable = order("readable", { commitsWithinMs: 5_000 });
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(heard("read").map(({ reading }) => reading)).toEqual(["absent", "committed"]);
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("without a window it is left unknown, and a later call finds the commit", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.lateCommit());
    const readable = order("readable");
    const first = await pass(readable.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "unknown", reason: "absent_unproven" });
    expect(service.commitLate()).toBe(1);
    const second = await pass(readable.outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.arrivals).toHaveLength(1);
    expect(service.effects).toHaveLength(1);
  });

  test("a commit on the last millisecond of the window is still waited for", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.lateCommit({ afterMs: 5_000 }));
    const outcome = await pass(order("readable", { commitsWithinMs: 5_000 }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.effects).toHaveLength(1);
  });

  test("the reading that licenses began after the window, on the service's own clock", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.resetBefore());
    await pass(order("readable", { commitsWithinMs: 5_000 }).outcome(TEA, ONCE));
    const [first, second] = service.arrivals;
    const before = service.reads.filter(({ seq }) => seq < (second?.seq ?? 0));
    expect((before.at(-1)?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(5_000);
    // One when the reply was lost, and one when it counts: none in vain, right before the end of the window.
    expect(before).toHaveLength(2);
  });

  test("a keyed service catches the commit that comes after the resend", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.lateCommit());
    const outcome = await pass(order("keyed").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2, licence: "keyed" });
    service.commitLate();
    expect(new Set(keysOf(service)).size).toBe(1);
    expect(service.effects).toHaveLength(1);
  });

  test("a service that breaks its own word commits twice, and the next look says so", async () => {
    const { service, order, pass, client, heard } = await openWorld();
    service.plan(faults.lateCommit(), faults.commitThenReset());
    const readable = order("readable", {
      commitsWithinMs: 1_000,
      readState: async (query) => {
        if (service.arrivals.length === 2) service.commitLate();
        return lookUp(client("readable"))(query);
      },
    });
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 2 });
    expect(heard("duplicate")).toMatchObject([{ source: "read" }]);
  });

  test("the deadline comes first: unknown, and a later call goes on where this one stopped", async () => {
    const { service, order, pass, clock } = await openWorld();
    service.plan(faults.resetBefore());
    const readable = order("readable", { commitsWithinMs: 90_000 });
    const first = await pass(readable.outcome(TEA, ONCE));
    expect(first).toMatchObject({ status: "unknown", reason: "deadline", attempts: 1 });
    await clock.advance(90_000);
    const second = await pass(readable.outcome(TEA, ONCE));
    expect(second).toMatchObject({ status: "committed", attempts: 2, licence: "absent" });
    expect(service.effects).toHaveLength(1);
  });
});

describe("a read that cannot be trusted yet", () => {
  test("a lagging replica is covered by the declared window", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    service.planRead(readFaults.lag({ ms: 2_000 }), readFaults.lag({ ms: 2_000 }));
    const outcome = await pass(order("readable", { commitsWithinMs: 3_000 }).outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.effects).toHaveLength(1);
  });

  test("a reader that fails is asked again, and one that goes on failing cannot tell", async () => {
    const { service, order, pass, heard } = await openWorld();
    service.plan(faults.commitThenReset());
    service.planRead(readFaults.status(), readFaults.reset());
    const outcome = await pass(order("readable").outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", attempts: 1 });
    expect(heard("warning", "reader_failed")).toMatchObject([
      { which: "readState", why: "failed" },
      { which: "readState", why: "failed" },
    ]);

    service.plan(faults.commitThenReset());
    service.alwaysRead(readFaults.status());
    const blind = await pass(order("readable").outcome({ item: "milk" }, ONCE));
    expect(blind).toMatchObject({ status: "unknown", reason: "cannot_tell", attempts: 1 });
    service.alwaysRead(undefined);
    const seen = await pass(order("readable").outcome({ item: "milk" }, ONCE));
    expect(seen).toMatchObject({ status: "committed", attempts: 1 });
    expect(service.effects).toHaveLength(2);
  });

  test("a reader that hangs is given its own time, and is told to stop", async () => {
    const { service, order, pass, heard } = await openWorld();
    service.plan(faults.commitThenReset());
    const stopped: boolean[] = [];
    const readable = order("readable", {
      readState: ({ signal }) =>
        new Promise(() => signal.addEventListener("abort", () => stopped.push(true))),
    });
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
    expect(heard("warning", "reader_failed").every(({ why }) => why === "late")).toBe(true);
    expect(stopped).toHaveLength(heard("warning", "reader_failed").length);
    expect(service.arrivals).toHaveLength(1);
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["true", true],
    ["an unknown word", { reading: "probably" }],
    ["an empty list of duplicates", { reading: "duplicated", results: [] }],
    ["an effect id that is no text", { reading: "committed", result: 1, effectId: 7 }],
  ])("a reader that returns %s cannot tell: nothing is sent again", async (_, answer) => {
    const { service, order, pass, heard } = await openWorld();
    service.plan(faults.resetBefore());
    const readable = order("readable", {
      commitsWithinMs: 1_000,
      readState: () => answer as never,
    });
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "cannot_tell" });
    expect(heard("warning", "reader_failed")).toContainEqual(
      expect.objectContaining({ why: "nonsense" }),
    );
    expect(service.arrivals).toHaveLength(1);
  });

  test("in progress is waited for, however often it is said, until the deadline", async () => {
    const { service, order, pass } = await openWorld();
    service.plan(faults.commitThenReset());
    let asked = 0;
    const readable = order("readable", {
      commitsWithinMs: 100,
      readState: () => {
        asked += 1;
        return { reading: "in_progress" };
      },
    });
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "unknown", reason: "in_progress", attempts: 1 });
    expect(asked).toBeGreaterThan(3);
    expect(service.arrivals).toHaveLength(1);
  });

  test("a 202 is followed up by the reader until the work is done", async () => {
    const { service, order, pass, client, track } = await openWorld();
    service.plan(faults.status({ status: 202, commit: true }));
    let asked = 0;
    const readable = order("readable", {
      run: async (args, { key }) => {
        const init = { headers: { "idempotency-key": key }, body: JSON.stringify(args) };
        const to = `${service.url}/readable/effects`;
        return (await track(fetch(to, { method: "POST", ...init }))) as never;
      },
      readState: async ({ key }) => {
        asked += 1;
        if (asked < 3) return { reading: "in_progress" };
        const [found] = await client("readable").find({ key });
        return found ? committed(found) : absent();
      },
    });
    const outcome = await pass(readable.outcome(TEA, ONCE));
    expect(outcome).toMatchObject({ status: "committed", result: { intent: TEA } });
    expect(asked).toBe(3);
    expect(service.arrivals).toHaveLength(1);
  });

  test("a 202 is a yes: not even an absence past the window fires again", async () => {
    const { service, hf, pass, track } = await openWorld();
    service.always(faults.status({ status: 202 }));
    const post = hf.tool({
      name: "post",
      kind: "write",
      commitsWithinMs: 1_000,
      readState: () => absent(),
      run: (args: { item: string }) =>
        track(
          fetch(`${service.url}/readable/effects`, { method: "POST", body: JSON.stringify(args) }),
        ),
    });
    const outcome = await pass(post.outcome({ item: "tea" }, ONCE));
    expect(outcome).toMatchObject({ status: "unknown" });
    expect(service.arrivals).toHaveLength(1);
  });
});
