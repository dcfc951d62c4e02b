import { beforeEach, describe, expect, test } from "vitest";
import { timingOf } from "../../src/engine/define/settings.ts";
import type { Operation } from "../../src/engine/operation/operation.ts";
import {
  keepLease,
  leaseLasts,
  mayStillSend,
  renewsLease,
} from "../../src/engine/steps/parts/lease.ts";
import { type Owned, takeOwnership, wakeOf } from "../../src/engine/steps/parts/ownership.ts";
import { timeToSend } from "../../src/engine/steps/parts/time-to-send.ts";
import { instantOf } from "../../src/lang/clock.ts";
import type { Moved } from "../../src/ledger/ledger.ts";
import { claimOf } from "../../src/testing/record-of.ts";
import { engineOf, executionOf, operationOf, type TestEngine } from "./engine-of.ts";

const LEASE_MS = 30_000;

let engine: TestEngine;
let owned: Owned;
let lost: number;

const claim = (operation: Operation, holder: string): Promise<Moved> =>
  engine.ledger.move(
    operation.ref,
    claimOf({ draft: operation.draft, holder, leaseMs: LEASE_MS, at: engine.clock.now() }),
  );

const leaseUntil = async (): Promise<number | undefined> =>
  (await engine.ledger.read(owned.operation.ref))?.leaseUntil;

beforeEach(async () => {
  engine = engineOf({ timing: { ...timingOf(), leaseMs: LEASE_MS } });
  lost = 0;
  engine.events.on("warning", ({ code }) => {
    if (code === "lease_lost") lost += 1;
  });
  const operation = operationOf(engine);
  await engine.ledger.open();
  const moved = await claim(operation, "me");
  if (moved.tag !== "moved" || !moved.stored) throw new Error("The claim was refused.");
  const leaseAskedAt = { monotonic: engine.clock.monotonic(), wall: engine.clock.now() };
  owned = takeOwnership(executionOf(operation), moved.stored, "me", leaseAskedAt, engine);
});

describe("a lease that is kept", () => {
  test("is renewed at a third of its length, again and again", async () => {
    const began = engine.clock.now();
    const letGo = keepLease(owned, engine);
    await engine.clock.advance(9_999);
    expect(await leaseUntil()).toBe(began + LEASE_MS);
    await engine.clock.advance(1);
    expect(await leaseUntil()).toBe(began + 10_000 + LEASE_MS);
    await engine.clock.advance(200_000);
    expect(await leaseUntil()).toBe(began + 210_000 + LEASE_MS);
    letGo();
    expect(engine.clock.pending()).toBe(0);
  });

  test("ends when it is let go", async () => {
    const letGo = keepLease(owned, engine);
    letGo();
    const before = await leaseUntil();
    await engine.clock.advance(100_000);
    expect(await leaseUntil()).toBe(before);
  });

  test("a store that does not answer is asked again at the next beat", async () => {
    const letGo = keepLease(owned, engine);
    engine.failing.fail("rejects");
    await engine.clock.advance(10_000);
    engine.failing.recover();
    await engine.clock.advance(10_000);
    expect(await leaseUntil()).toBe(engine.clock.now() + LEASE_MS);
    expect(lost).toBe(0);
    expect(owned.whyNotFire).toBeUndefined();
    letGo();
  });

  test("that another owner has taken over is lost, and told once", async () => {
    const letGo = keepLease(owned, engine);
    engine.failing.fail("hangs");
    await engine.clock.advance(30_000);
    engine.failing.fail(undefined);
    await claim(owned.operation, "heir");
    await engine.clock.advance(20_000);
    expect(owned.whyNotFire).toBe("lease_lost");
    expect(wakeOf(owned).signal.aborted).toBe(true);
    expect(lost).toBe(1);
    letGo();
  });
});

describe("an attempt starts", () => {
  const starts = async (): Promise<boolean> =>
    leaseLasts(owned, instantOf(engine.clock)) || (await renewsLease(owned, engine));

  test("while the lease is held, however long the attempt will take", async () => {
    expect(await starts()).toBe(true);
    await engine.clock.advance(19_999);
    expect(await starts()).toBe(true);
    expect(await leaseUntil()).toBe(engine.clock.now() + 10_001);
  });

  test("after a renewal if little of it is left, also a late one while nobody has taken over", async () => {
    await engine.clock.advance(20_000);
    expect(await starts()).toBe(true);
    expect(await leaseUntil()).toBe(engine.clock.now() + LEASE_MS);
    await engine.clock.advance(100_000);
    expect(await starts()).toBe(true);
    expect(await leaseUntil()).toBe(engine.clock.now() + LEASE_MS);
  });

  test.each([60_000, -60_000])(
    "not by one clock alone: a wall clock that jumps by %i makes it renew",
    async (ms) => {
      engine.clock.jump(ms);
      const before = engine.failing.asked.length;
      expect(await starts()).toBe(true);
      expect(engine.failing.asked.length).toBe(before + 1);
    },
  );

  test("not if the store does not answer", async () => {
    await engine.clock.advance(30_000);
    engine.failing.fail("rejects");
    expect(await starts()).toBe(false);
  });

  test("not if somebody else has it", async () => {
    await engine.clock.advance(30_000);
    await claim(owned.operation, "heir");
    expect(await starts()).toBe(false);
    expect(owned.whyNotFire).toBe("lease_lost");
  });
});

describe("a request of an attempt may leave", () => {
  const time = (ms: number) => timeToSend(engine.ledger.clock.latest() + ms, undefined, engine);

  test("until its time is over, by the clock that shows more", async () => {
    const minute = time(60_000);
    await engine.clock.advance(59_999);
    expect(mayStillSend(owned, minute, false, instantOf(engine.clock))).toBe(true);
    engine.clock.jump(1);
    expect(mayStillSend(owned, minute, false, instantOf(engine.clock))).toBe(false);
  });

  test("as its first one only under the lease", async () => {
    const minute = time(60_000);
    await engine.clock.advance(LEASE_MS);
    expect(mayStillSend(owned, minute, true, instantOf(engine.clock))).toBe(false);
    expect(mayStillSend(owned, minute, false, instantOf(engine.clock))).toBe(true);
  });
});
