/** Why an attempt that was licensed is not sent after all: what the ledger says when it is written down. */
import { describe, expect, test } from "vitest";
import { nextMove } from "../../src/engine/steps/next-move.ts";
import { giveUp, relearn, updatesOf } from "../../src/engine/steps/parts/ownership.ts";
import { prepareAttempt } from "../../src/engine/steps/parts/prepare-attempt.ts";
import { leftMs, type TimeToSend } from "../../src/engine/steps/parts/time-to-send.ts";
import { settle } from "../../src/engine/steps/settle.ts";
import { instantOf } from "../../src/lang/clock.ts";
import { LOST_EPOCH } from "../../src/ledger/moves/lost-data.ts";
import type { Verdict } from "../../src/reasons.ts";
import type { Trouble } from "./failing-store.ts";
import { type Owner, ownerOf } from "./owner-of.ts";

const LOST = { verdict: "unknown", tookKey: true, declared: { keyed: true } } as const;

/** An owner whose first attempt is in doubt, about to send the second. */
async function opened(): Promise<Owner & { prepare(): Promise<TimeToSend | undefined> }> {
  const owner = await ownerOf();
  await owner.fire(LOST);
  const { owned, engine } = owner;
  const prepare = async () =>
    prepareAttempt(owned, "keyed", 1_000, instantOf(engine.clock), engine);
  return { ...owner, prepare };
}

/** The attempts that this owner counts. */
const counted = ({ owned }: Owner) => owned.attempts.map(({ n }) => n);

/** What became of its first attempt is filed meanwhile, by another owner. */
async function fileLate(
  { engine, owned }: Owner,
  known: { readonly verdict: Verdict; readonly unverified?: true },
): Promise<void> {
  const { ref, draft } = owned.operation;
  const { createdAt, epoch } = owned.stored.record;
  const at = engine.clock.now();
  await engine.ledger.move(ref, {
    move: "file",
    evidence: { attempt: 1, epoch, at, verdict: known.verdict },
    madeAt: createdAt,
    update: { n: 1, endedAt: at, ...known },
    dedupes: true,
    fingerprint: draft.identity.fingerprint,
    at,
  });
}

describe("an attempt that is written down", () => {
  test("may be sent, and is on record before it is", async () => {
    const owner = await opened();
    const time = await owner.engine.clock.run(owner.prepare());
    // Until when it may send, as its note says.
    expect(time).toEqual(owner.owned.unfiredTime);
    expect(leftMs(time as TimeToSend, instantOf(owner.engine.clock))).toBeGreaterThanOrEqual(1_000);
    expect((await owner.record())?.fired).toBe(2);
    expect(counted(owner)).toEqual([1, 2]);
    expect(owner.owned.whyNotFire).toBeUndefined();
  });

  test("is not sent where a commit was filed meanwhile: nothing more is fired", async () => {
    const owner = await opened();
    const { engine, owned } = owner;
    await fileLate(owner, { verdict: "committed" });
    expect(await engine.clock.run(owner.prepare())).toBeUndefined();
    expect(owned.whyNotFire).toBe("stopped");
    expect((await owner.record())?.fired).toBe(1);
    expect(counted(owner)).toEqual([1]);
  });

  test("is not sent where a yes was filed meanwhile that is not verified: that is decided on", async () => {
    const owner = await opened();
    const { engine, owned } = owner;
    await fileLate(owner, { verdict: "unknown", unverified: true });
    expect(await engine.clock.run(owner.prepare())).toBeUndefined();
    expect(owned.whyNotFire).toBeUndefined();
    const unverified = { do: "leave_unknown", reason: "unverified" };
    expect(nextMove(owned, engine)).toEqual({ tag: "settle", final: unverified });
  });

  test("is not sent by an owner that another has followed: the lease is lost", async () => {
    const owner = await opened();
    await owner.takeOver();
    expect(await owner.engine.clock.run(owner.prepare())).toBeUndefined();
    expect(owner.owned.whyNotFire).toBe("lease_lost");
  });

  test("is not sent while the store does not answer; it may be on record all the same", async () => {
    const owner = await opened();
    owner.engine.failing.fail("loses-replies", (step) => step === "swap:claimed");
    expect(await owner.engine.clock.run(owner.prepare())).toBeUndefined();
    expect(owner.owned.whyNotFire).toBe("store_down");
    owner.engine.failing.recover();
    expect((await owner.record())?.fired).toBe(2);
    expect(counted(owner)).toEqual([1]);
  });

  test("is not sent on the note that stands for its own, which the store has lost", async () => {
    const owner = await ownerOf();
    const { owned, engine } = owner;
    const { ref } = owned.operation;
    const { record, version } = owned.stored;
    const lost = record.attempts.map((note) => ({ ...note, epoch: LOST_EPOCH }));
    const anew = { ...record, createdAt: record.createdAt + 1, attempts: lost };
    await engine.failing.swap({ ...ref, expect: version, record: anew, lease: "keep" });
    const preparing = prepareAttempt(owned, "first", 60_000, instantOf(engine.clock), engine);
    expect(await engine.clock.run(Promise.resolve(preparing))).toBeUndefined();
    // Its time was noted: only the note is another's.
    expect((await owner.record())?.attempts[0]?.endsBy).toBeGreaterThan(lost[0]?.endsBy ?? 0);
    expect(owned.fires).toBe(0);
  });

  test("is not even written down where there is no caller, or something else forbids it", async () => {
    const stop = new AbortController();
    stop.abort();
    const left = await ownerOf({ execution: { stopped: stop.signal } });
    await left.fire(LOST);
    const { owned, engine } = left;
    expect(
      await prepareAttempt(owned, "keyed", 1_000, instantOf(engine.clock), engine),
    ).toBeUndefined();
    expect((await left.record())?.fired).toBe(1);
    const abandoned = await opened();
    abandoned.owned.whyNotFire = "abandoned";
    expect(await abandoned.prepare()).toBeUndefined();
    expect(abandoned.owned.whyNotFire).toBe("abandoned");
    expect((await abandoned.record())?.fired).toBe(1);
  });
});

describe("an attempt that is written down and then given up", () => {
  async function givenUp() {
    const owner = await opened();
    await owner.engine.clock.run(owner.prepare());
    giveUp(owner.owned, 2);
    return owner;
  }

  test("gives its number to the next one, which is counted", async () => {
    const owner = await givenUp();
    const time = await owner.engine.clock.run(owner.prepare());
    // Until when it may send, as its note says.
    expect(time).toEqual(owner.owned.unfiredTime);
    expect(leftMs(time as TimeToSend, instantOf(owner.engine.clock))).toBeGreaterThanOrEqual(1_000);
    expect(counted(owner)).toEqual([1, 2]);
    expect(updatesOf(owner.owned).filter(({ neverFired }) => neverFired)).toEqual([]);
    await owner.fire({ verdict: "committed" });
    const final = { do: "commit", attempt: 2 } as const;
    const settled = await owner.engine.clock.run(settle(owner.owned, final, owner.engine));
    expect(settled).toMatchObject({ tag: "done", value: { status: "committed", attempts: 2 } });
    expect((await owner.record())?.attempts.map(({ n }) => n)).toEqual([1, 2]);
  });

  test.each<Trouble>(["loses-replies", "rejects"])(
    "stays given up where the note of the next one has no answer, which took its number (%s)",
    async (trouble) => {
      const owner = await givenUp();
      const { owned, engine } = owner;
      engine.failing.fail(trouble, (step) => step === "swap:claimed");
      expect(await engine.clock.run(owner.prepare())).toBeUndefined();
      engine.failing.recover();
      const final = { do: "leave_unknown", reason: "deadline" } as const;
      const settled = await engine.clock.run(settle(owned, final, engine));
      // Fired was the first alone.
      expect(settled).toMatchObject({ tag: "done", value: { status: "unknown", attempts: 1 } });
      const { fired, attempts } = (await owner.record()) ?? {};
      expect({ fired, attempts: attempts?.map(({ n }) => n) }).toEqual({ fired: 1, attempts: [1] });
    },
  );

  test("stays given up when the ledger says what has changed meanwhile", async () => {
    const owner = await givenUp();
    const { owned, engine } = owner;
    relearn(owned, await engine.ledger.read(owned.operation.ref));
    expect(counted(owner)).toEqual([1]);
    const final = { do: "leave_unknown", reason: "deadline" } as const;
    await engine.clock.run(settle(owned, final, engine));
    expect((await owner.record())?.attempts.map(({ n }) => n)).toEqual([1]);
  });
});
