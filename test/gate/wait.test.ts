/** Who waits for a person hears the answer, whoever took it; and so do those who listen. */
import { beforeEach, describe, expect, test } from "vitest";
import type { Holdfire, HoldfireOptions } from "../../src/create.ts";
import { engineOf } from "../../src/engine/engine-of.ts";
import type { HoldfireEvents } from "../../src/observe/events.ts";
import { failingStore } from "../engine/failing-store.ts";
import { type BucketWorld, DAY_MS, LOGS, ONCE, openBucket, waiting } from "./bucket.ts";

let world: BucketWorld;

beforeEach(() => {
  world = openBucket();
});

/** What a holdfire tells of approvals. */
function listen(hf: Holdfire): HoldfireEvents["approval"][] {
  const heard: HoldfireEvents["approval"][] = [];
  hf.on("approval", (event) => void heard.push(event));
  return heard;
}

const statuses = (heard: readonly HoldfireEvents["approval"][]): string[] =>
  heard.map(({ status }) => status);

/** A question, asked by one holdfire; and another holdfire on the same ledger, as another process has it. */
async function asked(options: Partial<HoldfireOptions> = {}) {
  const { clock, holdfire, drop } = world;
  const hf = holdfire(options);
  const heard = listen(hf);
  const { id } = await clock.run(drop(hf).outcome(LOGS, ONCE));
  const elsewhere = holdfire(options);
  const { digest } = await waiting(hf);
  return { hf, heard, id, elsewhere, heardElsewhere: listen(elsewhere), digest };
}

describe("wait", () => {
  test("returns the yes of another process, and the event is heard in both, once", async () => {
    const { hf, heard, id, elsewhere, heardElsewhere, digest } = await asked();
    const { clock, drop, runs } = world;
    const both = Promise.all([hf.approvals.wait(id), hf.approvals.wait(id)]);
    await clock.advance(60_000);
    await elsewhere.approvals.approve(id, { digest, by: "ana", note: "asked by phone" });
    const yes = { status: "approved", by: "ana", note: "asked by phone" };
    expect(await clock.run(both)).toEqual([yes, yes]);
    expect(heard).toMatchObject([
      { status: "asked", why: "approval", id, tool: "drop_bucket" },
      { status: "approved", by: "ana", id, scope: "s", tenant: "default" },
    ]);
    expect(statuses(heardElsewhere)).toEqual(["approved"]);
    expect(await clock.run(drop(hf).outcome(LOGS, ONCE))).toMatchObject({ status: "committed" });
    expect(runs).toHaveLength(1);
    expect(statuses(heard)).toEqual(["asked", "approved"]);
  });

  test("returns a no, and one that was given before at once", async () => {
    const { hf, heard, id, elsewhere, digest } = await asked();
    await elsewhere.approvals.deny(id, { digest, by: "bob" });
    const no = { status: "denied", by: "bob", note: undefined };
    expect(await hf.approvals.wait(id)).toEqual(no);
    expect(await hf.approvals.wait(id)).toEqual(no);
    expect(statuses(heard)).toEqual(["asked", "denied"]);
  });

  test("returns the yes that a call has used meanwhile", async () => {
    const { hf, id, elsewhere, digest } = await asked();
    await elsewhere.approvals.approve(id, { digest, by: "ana" });
    await world.clock.run(world.drop(elsewhere).outcome(LOGS, ONCE));
    expect(await hf.approvals.wait(id)).toMatchObject({ status: "approved", by: "ana" });
  });

  test("ends when the question has expired, and the call asks again", async () => {
    const { hf, heard, id } = await asked({ approvals: { expiryMs: 600_000 } });
    const { clock, drop } = world;
    expect(await clock.run(hf.approvals.wait(id))).toEqual({ status: "expired" });
    await clock.run(drop(hf).outcome(LOGS, ONCE));
    expect(statuses(heard)).toEqual(["asked", "expired", "asked"]);
  });

  test("ends at its deadline, with the question open", async () => {
    const { hf, heard, id } = await asked();
    const { clock } = world;
    const before = clock.monotonic();
    const decision = await clock.run(hf.approvals.wait(id, { deadlineMs: 90_000 }));
    expect(decision).toEqual({ status: "asked" });
    expect(clock.monotonic() - before).toBe(90_000);
    expect(statuses(heard)).toEqual(["asked"]);
  });

  test("ends with the signal's reason", async () => {
    const { hf, id } = await asked();
    const { clock } = world;
    const stop = new AbortController();
    const waited = hf.approvals.wait(id, { signal: stop.signal }).catch((error) => error);
    await clock.advance(5_000);
    stop.abort(new Error("the user left"));
    expect(await waited).toEqual(new Error("the user left"));
    expect(clock.pending()).toBe(0);
    await expect(hf.approvals.wait(id, { signal: stop.signal })).rejects.toThrow("the user left");
  });

  test("ends when the holdfire is closed", async () => {
    const { hf, id } = await asked();
    const waited = hf.approvals.wait(id).catch((error) => error);
    await world.clock.advance(5_000);
    await world.clock.run(hf.close());
    expect(await world.clock.run(waited)).toMatchObject({ code: "ERR_HOLDFIRE_CLOSED" });
  });

  test("needs a question", async () => {
    const { hf, elsewhere } = await asked();
    const write = world.drop(hf, { name: "write", kind: "write" });
    const { id } = await world.clock.run(write.outcome(LOGS, ONCE));
    for (const none of [id, "nothing-of-the-kind"]) {
      await expect(elsewhere.approvals.wait(none)).rejects.toThrow("is not waiting for approval");
    }
    await expect(hf.approvals.wait(id, { deadlineMs: -1 })).rejects.toThrow("deadlineMs");
    await expect(hf.approvals.wait(id, { timeout: 5 } as object)).rejects.toThrow("timeout");
  });

  test("goes on while the store does not answer", async () => {
    const { clock } = world;
    const store = failingStore({ now: clock.now });
    const { hf, id, digest, elsewhere } = await asked({ store });
    const waited = hf.approvals.wait(id);
    await clock.advance(1_000);
    store.fail("rejects", (step) => step === "read");
    await clock.advance(10_000);
    store.recover();
    await elsewhere.approvals.approve(id, { digest, by: "ana" });
    expect(await clock.run(waited)).toMatchObject({ status: "approved" });
  });
});

describe("the event", () => {
  test("tells of the answer of confirm, once", async () => {
    const { clock, drop } = world;
    for (const approve of [true, false]) {
      const hf = world.holdfire({ confirm: () => ({ approve, by: "ana" }) });
      const heard = listen(hf);
      await clock.run(drop(hf).outcome({ bucket: `b-${approve}` }, ONCE));
      expect(statuses(heard)).toEqual(["asked", approve ? "approved" : "denied"]);
    }
  });

  test("tells a process that makes the call again of the yes that lets it pass", async () => {
    const { hf, heard, id, elsewhere, digest } = await asked();
    await elsewhere.approvals.approve(id, { digest, by: "ana" });
    await world.clock.run(world.drop(hf).outcome(LOGS, ONCE));
    expect(statuses(heard)).toEqual(["asked", "approved"]);
  });

  test("tells of each question of an operation: one that has expired, and the next", async () => {
    const { hf, heard } = await asked();
    const { clock, drop } = world;
    await clock.advance(DAY_MS);
    await clock.run(drop(hf).outcome(LOGS, ONCE));
    await clock.advance(DAY_MS);
    await clock.run(drop(hf).outcome(LOGS, ONCE));
    expect(statuses(heard)).toEqual(["asked", "expired", "asked", "expired", "asked"]);
  });

  test("is not told to listeners of another tenant", async () => {
    const { hf, id, digest } = await asked();
    const others = listen(hf.forTenant("other"));
    await hf.approvals.approve(id, { digest, by: "ana" });
    expect(others).toEqual([]);
  });
});

describe("while it waits", () => {
  /** How often the ledger was read within `ms`. */
  async function readsWithin(ms: number): Promise<number> {
    const { clock } = world;
    const inner = failingStore({ now: clock.now });
    // It cannot tell of changes.
    const { watch: _, ...store } = inner;
    const { hf, id } = await asked({ store });
    const reads = () => inner.asked.filter((step) => step === "read").length;
    const before = reads();
    await clock.run(hf.approvals.wait(id, { deadlineMs: ms }));
    return reads() - before;
  }

  test("it looks soon at first, then seldom, and every second in the end", async () => {
    // At once, after 19 ms, then after twice as long each time; the last look is at the deadline.
    expect(await readsWithin(18)).toBe(2);
    expect(await readsWithin(100)).toBe(4);
    const tenMinutes = await readsWithin(600_000);
    expect(tenMinutes).toBeGreaterThan(600);
    expect(tenMinutes).toBeLessThan(1_000);
  });

  test("a store that can tell wakes it, and it stops listening when it is done", async () => {
    const { clock } = world;
    const inner = failingStore({ now: clock.now });
    let listening = 0;
    const store = {
      ...inner,
      watch: (...given: Parameters<NonNullable<typeof inner.watch>>) => {
        const stop = inner.watch?.(...given);
        listening += 1;
        return () => {
          listening -= 1;
          stop?.();
        };
      },
    };
    const { hf, id, digest, elsewhere } = await asked({ store });
    const waited = hf.approvals.wait(id);
    await clock.advance(60_000);
    expect(listening).toBe(1);
    const before = clock.monotonic();
    await elsewhere.approvals.approve(id, { digest, by: "ana" });
    expect(await waited).toMatchObject({ status: "approved" });
    expect(clock.monotonic()).toBe(before);
    expect(listening).toBe(0);
    expect(clock.pending()).toBe(0);
  });

  test("nothing stays with a signal that was never used", async () => {
    const { hf, id } = await asked();
    const { clock } = world;
    const stop = new AbortController();
    let kept = 0;
    const { addEventListener, removeEventListener } = stop.signal;
    Object.assign(stop.signal, {
      addEventListener(...given: Parameters<typeof addEventListener>) {
        kept += 1;
        addEventListener.apply(stop.signal, given);
      },
      removeEventListener(...given: Parameters<typeof removeEventListener>) {
        kept -= 1;
        removeEventListener.apply(stop.signal, given);
      },
    });
    await clock.run(hf.approvals.wait(id, { signal: stop.signal, deadlineMs: 60_000 }));
    expect(kept).toBe(0);
  });

  test("a caller that leaves in the middle of a pause does not wait for its end", async () => {
    const { hf, id } = await asked();
    const { clock } = world;
    const stop = new AbortController();
    const waited = hf.approvals.wait(id, { signal: stop.signal }).catch((error) => error);
    await clock.advance(60_100);
    const before = clock.monotonic();
    stop.abort(new Error("the user left"));
    expect(await waited).toEqual(new Error("the user left"));
    expect(clock.monotonic()).toBe(before);
  });
});

describe("what was decided", () => {
  test("a yes that was not used in time is expired, and no longer a yes", async () => {
    const { hf, heard, id, digest, elsewhere } = await asked({ approvals: { expiryMs: 600_000 } });
    await elsewhere.approvals.approve(id, { digest, by: "ana" });
    expect(await hf.approvals.wait(id)).toMatchObject({ status: "approved" });
    await world.clock.advance(600_000);
    expect(await hf.approvals.wait(id)).toEqual({ status: "expired" });
    expect(statuses(heard)).toEqual(["asked", "approved", "expired"]);
  });

  test("of two who say yes, the one who counts is named", async () => {
    const { hf, heard, id, digest } = await asked();
    await hf.approvals.approve(id, { digest, by: "ana", note: "first" });
    await expect(hf.approvals.approve(id, { digest, by: "eve" })).rejects.toThrow(
      "was answered before; both answers are recorded.",
    );
    const yes = { status: "approved", by: "ana", note: "first" };
    expect(await hf.approvals.wait(id)).toEqual(yes);
    await world.clock.run(world.drop(hf).outcome(LOGS, ONCE));
    expect(await hf.approvals.wait(id)).toEqual(yes);
    expect(statuses(heard)).toEqual(["asked", "approved"]);
  });

  test("a no to what changed after a yes is told, too", async () => {
    const { hf, heard, id, digest } = await asked();
    await hf.approvals.approve(id, { digest, by: "ana" });
    world.plan = { changes: [{ type: "delete", target: "bucket/all" }] };
    await world.clock.run(world.drop(hf).outcome(LOGS, ONCE));
    await hf.approvals.deny(id, { digest: (await waiting(hf)).digest, by: "bob" });
    expect(statuses(heard)).toEqual(["asked", "approved", "asked", "denied"]);
  });

  test("an event of a decision says what the question was about, and by whom it was decided", async () => {
    const { heard, id, hf, digest, elsewhere } = await asked({ approvals: { expiryMs: 600_000 } });
    await world.clock.advance(600_000);
    await world.clock.run(world.drop(hf).outcome(LOGS, ONCE));
    expect(heard[1]).toMatchObject({ status: "expired", why: "approval", by: undefined });
    const { digest: next } = await waiting(hf);
    expect(next).not.toBe(digest);
    await elsewhere.approvals.deny(id, { digest: next, by: "bob" });
    await hf.approvals.wait(id);
    expect(heard.at(-1)).toMatchObject({ status: "denied", why: undefined, by: "bob" });
  });

  test("each yes to an operation is told, however often it is asked about", async () => {
    const { hf, heard, id } = await asked({ approvals: { expiryMs: 600_000 } });
    const { clock, drop } = world;
    for (const by of ["ana", "bob"]) {
      const { digest } = await waiting(hf);
      await hf.approvals.approve(id, { digest, by });
      await clock.advance(600_000);
      await clock.run(drop(hf).outcome(LOGS, ONCE));
    }
    const told = heard.map(({ status, by }) => [status, by]);
    expect(told.filter(([status]) => status === "approved")).toEqual([
      ["approved", "ana"],
      ["approved", "bob"],
    ]);
  });

  test("a thousand decisions are remembered as told, and the oldest goes first", async () => {
    const { hf, heard, id, digest } = await asked();
    const told = engineOf(hf).tenantState.heard;
    for (let n = 0; n < 999; n += 1) told.add(`other ${n}`);
    await hf.approvals.approve(id, { digest, by: "ana" });
    expect(told.size).toBe(1_000);
    expect(told.has("other 0")).toBe(true);
    await hf.approvals.deny(id, { digest, by: "bob" });
    expect(told.size).toBe(1_000);
    expect([told.has("other 0"), told.has("other 1")]).toEqual([false, true]);
    expect(statuses(heard)).toEqual(["asked", "approved", "denied"]);
  });
});
