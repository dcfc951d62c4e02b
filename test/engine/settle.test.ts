/** How an execution ends: what is written and told, and what the rest of the process learns of it. */
import { describe, expect, test } from "vitest";
import { createBudgets } from "../../src/engine/budget.ts";
import { absent } from "../../src/engine/define/reading.ts";
import type { Final } from "../../src/engine/steps/next-move.ts";
import { fileLateReply } from "../../src/engine/steps/parts/late.ts";
import { keepResult, learn } from "../../src/engine/steps/parts/ownership.ts";
import { settle } from "../../src/engine/steps/settle.ts";
import { LeaseLostError } from "../../src/errors.ts";
import type { Moved } from "../../src/ledger/ledger.ts";
import { type Owner, type OwnerOptions, ownerOf } from "./owner-of.ts";

const YES = { verdict: "committed" } as const;
const NO = { verdict: "rejected", status: 400 } as const;
const REJECTED: Final = { do: "not_applied", reason: "rejected", clears: [] };
const COMMIT: Final = { do: "commit", attempt: 1 };
const FOUND: Final = { do: "commit", attempt: undefined };
const LEFT: Final = { do: "leave_unknown", reason: "deadline" };

const end = ({ owned, engine }: Owner, final: Final) =>
  engine.clock.run(settle(owned, final, engine));

describe("a record that has changed under the decision", () => {
  /** A read had proved it absent; then a write of it has left late. */
  async function doubted() {
    const owner = await ownerOf({ execution: { hasCaller: () => true } });
    const { engine, owned } = owner;
    await owner.fire({ verdict: "unknown" });
    learn(owned, { n: 1, cleared: "absent" });
    const at = engine.clock.now();
    const late = { move: "doubt", attempt: 1, why: "late_send", endsBy: at + 5_000, at } as const;
    await engine.ledger.move(owned.operation.ref, late);
    return owner;
  }
  const ABSENT: Final = { do: "not_applied", reason: "absent", clears: [] };

  test("is not settled: another pass follows at once, which knows of the change", async () => {
    const owner = await doubted();
    expect(await end(owner, ABSENT)).toEqual({ tag: "wait", waitMs: 0 });
    const record = await owner.record();
    expect(record?.state.tag).toBe("claimed");
    expect(owner.owned.attempts).toMatchObject([{ n: 1, verdict: "unknown", cleared: undefined }]);
    expect(owner.owned.stored.record).toEqual(record);
  });

  test("decides on: a late reply wakes it, and no caller counts as told", async () => {
    const owner = await doubted();
    await end(owner, ABSENT);
    expect(owner.owned.active).toBe(true);
    expect(owner.owned.execution.telling).toBe(false);
  });
});

test("a reply that comes while the settle is under way goes to the ledger", async () => {
  const owner = await ownerOf();
  const { engine, owned } = owner;
  await owner.fire({ verdict: "unknown" });
  engine.failing.fail("hangs", (step) => step === "swap:unknown");
  const ending = settle(owned, LEFT, engine);
  await engine.clock.settle();
  learn(owned, { n: 1, ...YES });
  keepResult(owned, 1, { value: "paid" });
  await fileLateReply(owned, { n: 1, ...YES }, engine);
  engine.failing.recover();
  await engine.clock.run(ending);
  const record = await owner.record();
  expect(record?.evidence).toMatchObject([{ attempt: 1, verdict: "committed" }]);
  expect(record?.state).toMatchObject({ tag: "committed", via: "late" });
});

describe("the retry budget of the service", () => {
  /** Two tokens, both spent: only successes bring one back. */
  async function spent() {
    const budget = { tokens: 2, perSecond: 0, perSuccess: 1 };
    const budgets = createBudgets(budget, { monotonic: () => 0 });
    const owner = await ownerOf({ engine: { budgets } });
    const { service } = owner.owned.operation.tool;
    const reserve = () => budgets.reserve(service, 1_000);
    expect([reserve(), reserve(), reserve()]).toEqual([0, 0, undefined]);
    return { ...owner, reserve };
  }

  test("is rewarded once by a commit", async () => {
    const owner = await spent();
    await owner.fire(YES, "paid");
    await end(owner, COMMIT);
    expect([owner.reserve(), owner.reserve()]).toEqual([0, undefined]);
  });

  test.each([REJECTED, LEFT])("is not rewarded by another end: $do", async (final) => {
    const owner = await spent();
    await owner.fire(NO);
    await end(owner, final);
    expect(owner.reserve()).toBeUndefined();
  });
});

describe("in a transaction of the user's", () => {
  /** Counts how often the transaction was made impossible to commit. */
  async function enlisted(options: OwnerOptions = {}) {
    const spoilt: true[] = [];
    const spoil = async () => void spoilt.push(true);
    const owner = await ownerOf({ ...options, engine: { enlisted: true, spoil } });
    return { ...owner, spoilt };
  }

  test("a commit joins it", async () => {
    const owner = await enlisted();
    await owner.fire(YES, "paid");
    expect(await end(owner, COMMIT)).toMatchObject({
      value: { status: "committed", recorded: true, result: "paid" },
    });
    expect(owner.spoilt).toEqual([]);
  });

  test("a call that failed spoils it", async () => {
    const owner = await enlisted();
    await owner.fire(NO);
    expect(await end(owner, REJECTED)).toMatchObject({ value: { status: "not_applied" } });
    expect(owner.spoilt).toHaveLength(1);
  });

  test("a call that was never fired does not spoil it", async () => {
    const owner = await enlisted();
    await end(owner, { do: "not_applied", reason: "aborted", clears: [] });
    expect(owner.spoilt).toEqual([]);
  });

  test("a commit whose operation another one owns cannot join: it is spoilt, and the call throws", async () => {
    const owner = await enlisted();
    await owner.fire(YES, "paid");
    await owner.takeOver();
    await expect(end(owner, COMMIT)).rejects.toBeInstanceOf(LeaseLostError);
    expect(owner.spoilt).toHaveLength(1);
    expect((await owner.record())?.evidence).toEqual([]);
  });

  test("a commit that the store does not take cannot join either", async () => {
    const owner = await enlisted();
    await owner.fire(YES, "paid");
    owner.engine.failing.fail("rejects");
    await expect(end(owner, COMMIT)).rejects.toBeInstanceOf(LeaseLostError);
    expect(owner.spoilt).toHaveLength(1);
  });

  test("a call that failed need not join: where the store does not take it, it is told all the same", async () => {
    const owner = await enlisted();
    await owner.fire(NO);
    owner.engine.failing.fail("rejects");
    expect(await end(owner, REJECTED)).toMatchObject({
      value: { status: "not_applied", recorded: false },
    });
    expect(owner.spoilt).toHaveLength(1);
  });
});

describe("the reader of the tool", () => {
  async function readable(options: OwnerOptions = {}) {
    const readings: true[] = [];
    const readState = () => {
      readings.push(true);
      return absent();
    };
    const owner = await ownerOf({ ...options, tool: { readState, commitsWithinMs: 1_000 } });
    return { ...owner, readings };
  }

  test("is checked once after a reply that said yes, when it may no longer lag", async () => {
    const owner = await readable();
    await owner.fire(YES, "paid");
    await end(owner, COMMIT);
    expect(owner.readings).toEqual([]);
    await owner.engine.clock.advance(60_000);
    expect(owner.readings).toHaveLength(1);
    expect(owner.heard("warning", "reader_blind")).toHaveLength(1);
  });

  test("is checked as well where the yes was not the first attempt", async () => {
    const owner = await readable();
    await owner.fire({ verdict: "unknown" });
    await owner.fire(YES, "paid");
    await end(owner, { do: "commit", attempt: 2 });
    await owner.engine.clock.advance(60_000);
    expect(owner.readings).toHaveLength(1);
  });

  test("is not checked by what it has found itself, nor by a no", async () => {
    const found = await readable();
    await found.fire({ verdict: "unknown" });
    found.find("found");
    await end(found, FOUND);
    await found.engine.clock.advance(60_000);
    const rejected = await readable();
    await rejected.fire(NO);
    await end(rejected, REJECTED);
    await rejected.engine.clock.advance(60_000);
    expect([...found.readings, ...rejected.readings]).toEqual([]);
  });

  test("is not checked in a transaction: it need not see what is not committed", async () => {
    const owner = await readable({ engine: { enlisted: true } });
    await owner.fire(YES, "paid");
    await end(owner, COMMIT);
    await owner.engine.clock.advance(60_000);
    expect(owner.readings).toEqual([]);
  });
});

describe("a settle that the store did not answer", () => {
  async function unanswered() {
    const owner = await ownerOf();
    await owner.fire(YES, "paid");
    owner.engine.failing.fail("rejects");
    expect(await end(owner, COMMIT)).toMatchObject({ value: { recorded: false } });
    return { ...owner, id: owner.owned.operation.ref.id };
  }

  test("is kept for the next claim until it is written", async () => {
    const { engine, id, record } = await unanswered();
    expect(engine.unrecorded.has(id)).toBe(true);
    engine.failing.recover();
    await engine.clock.advance(20_000);
    expect((await record())?.state.tag).toBe("committed");
    expect(engine.unrecorded.has(id)).toBe(false);
  });

  test("does not let go of a later one of the same operation", async () => {
    const { engine, id } = await unanswered();
    const later = () => new Promise<Moved>(() => {});
    engine.unrecorded.set(id, later);
    engine.failing.recover();
    await engine.clock.advance(20_000);
    expect(engine.unrecorded.get(id)).toBe(later);
  });
});

test("the requests that are told are those of this owner, not of the one before", async () => {
  const owner = await ownerOf({ before: { verdict: "unknown", wireRequests: 2 } });
  await owner.fire({ ...YES, wireRequests: 1 }, "paid");
  const outcome = await end(owner, { do: "commit", attempt: 2 });
  expect(outcome).toMatchObject({ value: { attempts: 2, wireRequests: 1 } });
});
