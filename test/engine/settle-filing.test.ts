/** What an execution files beside its own settle: other attempts that were answered, and all it saw of what it lost. */
import { describe, expect, test } from "vitest";
import type { Final } from "../../src/engine/steps/next-move.ts";
import { fileLateReply } from "../../src/engine/steps/parts/late.ts";
import { settle } from "../../src/engine/steps/settle.ts";
import { LOST_ATTEMPT } from "../../src/ledger/moves/lost-data.ts";
import { type Owner, ownerOf } from "./owner-of.ts";

const YES = { verdict: "committed" } as const;
const NO = { verdict: "rejected", status: 400 } as const;
const LOST_REPLY = { verdict: "unknown" } as const;
const REJECTED: Final = { do: "not_applied", reason: "rejected", clears: [] };
const FOUND: Final = { do: "commit", attempt: undefined };

const WITH_ID = { effect: { id: ({ id }: { readonly id: string }) => id } };

const commit = (attempt: number): Final => ({ do: "commit", attempt });

/** Settles, and says what the caller is told. */
async function told({ owned, engine }: Owner, final: Final): Promise<unknown> {
  const pass = await engine.clock.run(settle(owned, final, engine));
  return pass.tag === "done" ? pass.value : pass;
}

const evidenceIn = async ({ record }: Owner) =>
  (await record())?.evidence.map(({ attempt, verdict }) => [attempt, verdict]);

describe("another attempt of the same execution was answered yes, too", () => {
  test("with another effect: the duplicate is told, and its effect is on record", async () => {
    const owner = await ownerOf({ tool: WITH_ID });
    await owner.fire(YES, { id: "ef_1" });
    await owner.fire(YES, { id: "ef_2" });
    const outcome = await told(owner, commit(2));
    expect(outcome).toMatchObject({ status: "committed", recorded: true, effectId: "ef_2" });
    expect(owner.heard("duplicate")).toMatchObject([{ source: "late" }]);
    const record = await owner.record();
    expect(record?.state).toMatchObject({ tag: "committed", attempt: 2, effectId: "ef_2" });
    expect(record?.evidence).toMatchObject([
      { attempt: 1, verdict: "committed", effectId: "ef_1" },
    ]);
  });

  test("with the same effect: it is on record, and nothing is told", async () => {
    const owner = await ownerOf({ tool: WITH_ID });
    await owner.fire(YES, { id: "ef_1" });
    await owner.fire(YES, { id: "ef_1" });
    expect(await told(owner, commit(1))).toMatchObject({ status: "committed", recorded: true });
    expect(owner.heard("duplicate")).toEqual([]);
    expect(await evidenceIn(owner)).toEqual([[2, "committed"]]);
  });

  test("attempts that were answered no, and those of an owner before, are not filed with it", async () => {
    const owner = await ownerOf({ before: YES });
    await owner.fire({ verdict: "refused" });
    await owner.fire(YES, "second");
    await owner.fire(YES, "third");
    await told(owner, commit(4));
    expect(await evidenceIn(owner)).toEqual([[3, "committed"]]);
  });

  test("a reply that comes beside a commit found by a read files itself", async () => {
    const owner = await ownerOf();
    await owner.fire(YES, "first");
    await owner.fire(LOST_REPLY);
    owner.find("found");
    expect(await told(owner, FOUND)).toMatchObject({ status: "committed", result: "found" });
    expect(await evidenceIn(owner)).toEqual([]);
  });
});

test("a commit that is written is told as recorded, also while another yes beside it cannot be filed", async () => {
  const owner = await ownerOf();
  await owner.fire(YES, "paid");
  await owner.fire(YES, "paid again");
  // The settle is answered by its swap; filing begins with a read.
  owner.engine.failing.fail("rejects", (step) => step === "read");
  const outcome = await told(owner, commit(1));
  expect(outcome).toMatchObject({ status: "committed", recorded: true, result: "paid" });
});

describe("an owner that has lost the operation", () => {
  test("files each of its attempts with its verdict, and tells the commit as recorded", async () => {
    const owner = await ownerOf();
    await owner.fire(YES, "paid");
    await owner.fire(LOST_REPLY);
    await owner.takeOver();
    const outcome = await told(owner, commit(1));
    expect(outcome).toMatchObject({ status: "committed", recorded: true, result: "paid" });
    expect(await evidenceIn(owner)).toEqual([
      [1, "committed"],
      [2, "unknown"],
    ]);
    expect((await owner.record())?.state.tag).toBe("claimed");
  });

  test("files what a reader found as a commit of the last attempt, with its result", async () => {
    const owner = await ownerOf();
    await owner.fire(LOST_REPLY);
    await owner.fire(LOST_REPLY);
    owner.find("found");
    await owner.takeOver();
    const outcome = await told(owner, FOUND);
    expect(outcome).toMatchObject({ status: "committed", via: "read", recorded: true });
    expect((await owner.record())?.evidence).toMatchObject([
      { attempt: 1, verdict: "unknown", payload: undefined },
      { attempt: 2, verdict: "committed", payload: { form: "json", text: '"found"' } },
    ]);
  });

  test("files its commit and takes nothing back, also if the other owner is lost as well", async () => {
    const owner = await ownerOf();
    await owner.fire(YES, "paid");
    const { epoch } = await owner.takeOver();
    await owner.engine.clock.advance(60_000);
    await told(owner, commit(1));
    expect(await owner.record()).toMatchObject({ epoch, state: { tag: "committed", via: "late" } });
  });

  test("leaves the attempts of the owner before it to that one", async () => {
    const owner = await ownerOf({ before: { verdict: "unknown" } });
    await owner.fire(YES, "paid");
    await owner.takeOver();
    await told(owner, commit(2));
    expect(await evidenceIn(owner)).toEqual([[2, "committed"]]);
  });

  test("was told no: its caller hears what the other owner has written", async () => {
    const owner = await ownerOf();
    await owner.fire(NO);
    const { epoch, holder } = await owner.takeOver();
    const { engine, owned } = owner;
    const state = { tag: "committed", via: "read" } as const;
    const at = engine.clock.now();
    const move = { move: "settle", epoch, holder, state, updates: [], at } as const;
    await engine.ledger.move(owned.operation.ref, move);
    expect(await told(owner, REJECTED)).toMatchObject({ status: "committed", replayed: false });
    expect(await evidenceIn(owner)).toEqual([[1, "rejected"]]);
  });

  test("tells its commit as unrecorded while it cannot be filed, and files it when the store is back", async () => {
    const owner = await ownerOf();
    const { engine } = owner;
    await owner.fire(YES, "paid");
    await owner.takeOver();
    // The settle is answered by its swap; filing begins with a read.
    engine.failing.fail("rejects", (step) => step === "read");
    const outcome = await told(owner, commit(1));
    expect(outcome).toMatchObject({ status: "committed", recorded: false, result: "paid" });
    engine.failing.recover();
    await engine.clock.advance(20_000);
    expect(await evidenceIn(owner)).toEqual([[1, "committed"]]);
  });
});

describe("a record that the store has lost", () => {
  test("is written anew with the commit", async () => {
    const owner = await ownerOf();
    await owner.fire(YES, "paid");
    await owner.lose();
    expect(await told(owner, commit(1))).toMatchObject({ status: "committed", recorded: true });
    expect((await owner.record())?.state).toMatchObject({ tag: "committed", attempt: 1 });
  });

  test("is written anew with a no to what was fired", async () => {
    const owner = await ownerOf();
    await owner.fire(NO);
    await owner.lose();
    expect(await told(owner, REJECTED)).toMatchObject({ status: "not_applied", recorded: true });
    expect((await owner.record())?.state).toMatchObject({ tag: "not_applied", reason: "rejected" });
  });

  test("of what was never fired leaves nothing to remember", async () => {
    const owner = await ownerOf();
    await owner.lose();
    const aborted: Final = { do: "not_applied", reason: "aborted", clears: [] };
    expect(await told(owner, aborted)).toMatchObject({ status: "not_applied", recorded: true });
    expect(await owner.record()).toBeUndefined();
  });

  test("of what was found before it was fired is written anew: it is done", async () => {
    const owner = await ownerOf();
    owner.find("found");
    await owner.lose();
    expect(await told(owner, FOUND)).toMatchObject({ status: "committed", recorded: true });
    expect((await owner.record())?.state).toMatchObject({ tag: "committed", via: "read" });
  });

  test("and that another process claims anew while a late yes is to be restored: the yes is filed there", async () => {
    const owner = await ownerOf();
    const { engine, owned } = owner;
    await owner.fire(YES, "paid");
    await owner.lose();
    owned.active = false;
    let claims = 0;
    engine.failing.fail("hangs", (step) => {
      if (step === "swap:claimed") claims += 1;
      return step === "swap:claimed" && claims === 1;
    });
    const filing = fileLateReply(owned, { n: 1, ...YES }, engine);
    await engine.clock.settle();
    await engine.clock.advance(1);
    await owner.claimNow();
    engine.failing.recover();
    await engine.clock.run(filing);
    expect(await evidenceIn(owner)).toEqual([[LOST_ATTEMPT, "committed"]]);
  });

  test("and that another process has claimed anew meanwhile: the commit is filed there, as that of a lost attempt", async () => {
    const owner = await ownerOf();
    const { engine } = owner;
    await owner.fire(YES, "paid");
    await owner.lose();
    let claims = 0;
    engine.failing.fail("hangs", (step) => {
      if (step === "swap:claimed") claims += 1;
      return step === "swap:claimed" && claims === 1;
    });
    const telling = settle(owner.owned, commit(1), engine);
    await engine.clock.settle();
    // By the time at which it was made, the new record is known to be another one.
    await engine.clock.advance(1);
    await owner.claimNow();
    engine.failing.recover();
    const outcome = await engine.clock.run(telling);
    expect(outcome).toMatchObject({ value: { status: "committed", recorded: true } });
    const record = await owner.record();
    expect(record?.state.tag).toBe("claimed");
    expect(record?.evidence).toMatchObject([{ verdict: "committed", attempt: LOST_ATTEMPT }]);
  });
});
