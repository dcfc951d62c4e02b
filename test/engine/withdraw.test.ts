/** A claim that is taken back before anything was sent: what its caller is told, and what is left in the ledger. */
import { describe, expect, test } from "vitest";
import { withdrawAndTell } from "../../src/engine/steps/parts/withdraw.ts";
import { type Owner, ownerOf } from "./owner-of.ts";

const told = ({ owned, engine }: Owner, status: Parameters<typeof withdrawAndTell>[1]) =>
  engine.clock.run(withdrawAndTell(owned, status, engine));

describe("a claim that is taken back", () => {
  test("leaves nothing, and its caller is told why nothing was sent", async () => {
    const expired = await ownerOf();
    expect(await told(expired, "not_applied")).toMatchObject({
      ...{ status: "not_applied", reason: "expired", recorded: true, attempts: 0, wireRequests: 0 },
    });
    expect(await expired.record()).toBeUndefined();
    const stop = new AbortController();
    stop.abort();
    const aborted = await ownerOf({ execution: { stopped: stop.signal } });
    expect(await told(aborted, "not_applied")).toMatchObject({ reason: "aborted" });
  });

  test("because the service is at it already: that is told", async () => {
    const outcome = await told(await ownerOf(), "in_progress");
    expect(outcome).toMatchObject({ status: "in_progress", recorded: true });
  });

  test("because nobody can tell whether it happened: unknown, and not in the ledger", async () => {
    const owner = await ownerOf();
    expect(await told(owner, "unknown")).toMatchObject({
      ...{ status: "unknown", reason: "cannot_tell", recorded: false },
      hint: "The same call reads again.",
    });
    expect(await owner.record()).toBeUndefined();
  });

  test("after another owner has taken over: its caller is told what that one has written", async () => {
    const owner = await ownerOf();
    const { epoch, holder } = await owner.takeOver();
    const { engine, owned } = owner;
    const at = engine.clock.now();
    const state = { tag: "committed", via: "reply", attempt: 1 } as const;
    const settle = { move: "settle", epoch, holder, state, updates: [], at } as const;
    await engine.ledger.move(owned.operation.ref, settle);
    expect(await told(owner, "not_applied")).toMatchObject({ status: "committed", replayed: true });
    expect((await owner.record())?.state.tag).toBe("committed");
  });

  test("while the store does not answer: told as not recorded, and taken back once it does", async () => {
    const owner = await ownerOf();
    const { failing, clock } = owner.engine;
    failing.fail("rejects");
    expect(await told(owner, "not_applied")).toMatchObject({
      ...{ status: "not_applied", recorded: false },
    });
    failing.recover();
    expect((await owner.record())?.state.tag).toBe("claimed");
    await clock.advance(60_000);
    expect(await owner.record()).toBeUndefined();
  });

  test("while the store does not answer and its lease is over: another owner may have made the call", async () => {
    const owner = await ownerOf();
    const { failing, clock } = owner.engine;
    failing.fail("rejects");
    await clock.advance(owner.owned.leaseMs);
    expect(await told(owner, "not_applied")).toMatchObject({
      ...{ status: "unknown", reason: "lease_lost", recorded: false },
      hint: "The same call asks the ledger again.",
    });
    failing.recover();
    await clock.advance(60_000);
    expect(await owner.record()).toBeUndefined();
  });

  test("is not this owner's any more: what comes late does not wake it", async () => {
    const owner = await ownerOf();
    await told(owner, "not_applied");
    expect(owner.owned.active).toBe(false);
  });
});
