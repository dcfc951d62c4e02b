/** Moves on a store that other processes write to as well. */
import { describe, expect, test } from "vitest";
import type { Swapped } from "../../src/ledger/store.ts";
import { type Mark, memoryWitness } from "../../src/ledger/witness/witness.ts";
import { claimOf } from "../../src/testing/record-of.ts";
import { claimed, REF, settle, setUp, tenant } from "./ledger-on-memory.ts";

describe("a ledger", () => {
  test("is opened once for all who open it", async () => {
    const { ledger, asked } = setUp();
    expect(ledger.isOpen()).toBe(false);
    await Promise.all([ledger.open(), ledger.open()]);
    await ledger.open();
    expect([ledger.isOpen(), asked]).toEqual([true, ["open"]]);
  });

  test("that could not be opened is opened by the next who tries", async () => {
    let isDown = true;
    const { ledger } = setUp((store) => ({
      async open() {
        if (isDown) throw new Error("no answer");
        return store.open();
      },
    }));
    await expect(ledger.open()).rejects.toThrow("no answer");
    expect(ledger.isOpen()).toBe(false);
    isDown = false;
    await ledger.open();
    expect(ledger.isOpen()).toBe(true);
  });

  test("has the time of the store's last answer, whatever was asked", async () => {
    const { ledger, clock } = setUp((store) => ({
      swap: async (change) => ({ ...(await store.swap(change)), now: 5_000 }),
      read: async (...args) => ({ ...(await store.read(...args)), now: 6_000 }),
      readLane: async (...args) => ({ ...(await store.readLane(...args)), now: 7_000 }),
    }));
    await ledger.move(REF, claimOf());
    expect(ledger.clock.earliest()).toBe(5_000);
    await ledger.read(REF);
    expect(ledger.clock.earliest()).toBe(6_000);
    await ledger.readLane(tenant, "lane");
    expect(ledger.clock.earliest()).toBe(7_000);
    await ledger.open();
    expect(ledger.clock.earliest()).toBe(clock.now());
  });
});

describe("a move", () => {
  test("of what nobody has claimed costs one swap, and so does the owner's next one", async () => {
    const { ledger, asked } = setUp();
    const moved = await ledger.move(REF, claimOf());
    expect(moved).toMatchObject({ tag: "moved", stored: { version: 1, record: { epoch: 1 } } });
    const { stored } = moved.tag === "moved" ? moved : {};
    expect(stored?.leaseUntil).toBeGreaterThan(0);
    await ledger.move(REF, settle, stored);
    expect(asked).toEqual(["swap", "swap"]);
    expect(await ledger.read(REF)).toMatchObject({ record: { state: settle.state }, version: 2 });
  });

  test("decided on an old record is decided again on what the store has instead", async () => {
    const setting = setUp();
    const stored = await claimed(setting);
    const renew = { move: "renew", epoch: 1, holder: "holder-1", leaseMs: 90_000 } as const;
    await setting.ledger.move(REF, renew, stored);
    setting.asked.length = 0;
    const moved = await setting.ledger.move(REF, settle, stored);
    expect(moved).toMatchObject({ tag: "moved", stored: { version: 3 } });
    expect(setting.asked).toEqual(["swap", "swap"]);
  });

  test("is refused by what the store says, not by what was known", async () => {
    const setting = setUp();
    const stored = await claimed(setting);
    const other = claimOf({ holder: "holder-2" });
    const busy = await setting.ledger.move(REF, other, stored);
    expect(busy).toEqual({ tag: "refused", why: "busy", stored });
    expect(setting.asked).toEqual(["read"]);
    await setting.ledger.move(REF, { move: "withdraw", holder: "holder-1", at: 1 }, stored);
    expect(await setting.ledger.move(REF, other, stored)).toMatchObject({
      tag: "moved",
      stored: { record: { state: { holder: "holder-2" } } },
    });
  });

  test("that was refused by the answer to its swap asks nothing more", async () => {
    const setting = setUp();
    await claimed(setting);
    const other = await setting.ledger.move(REF, claimOf({ holder: "holder-2" }));
    expect(other).toMatchObject({ tag: "refused", why: "busy", stored: { version: 1 } });
    expect(setting.asked).toEqual(["swap"]);
  });

  test("whose reply was lost finds its own record, and writes nothing", async () => {
    const setting = setUp();
    const stored = await claimed(setting);
    expect(await setting.ledger.move(REF, claimOf())).toEqual({ tag: "moved", stored });
    expect(setting.asked).toEqual(["swap"]);
  });

  test("tells what it noticed", async () => {
    const setting = setUp();
    const stored = await claimed(setting);
    const unknown = { ...settle, state: { tag: "unknown", reason: "lost_reply" } } as const;
    await setting.ledger.move(REF, unknown, stored);
    const evidence = { attempt: 1, epoch: 1, at: 1, verdict: "committed" } as const;
    const filed = { move: "file", evidence, dedupes: false, at: 2 } as const;
    expect(await setting.ledger.move(REF, filed)).toMatchObject({ report: "corrected" });
  });

  test("is noted by the witness before its caller hears of it; those answered together, once", async () => {
    const noted: number[] = [];
    const inner = memoryWitness();
    const note = (mark: Mark) => {
      noted.push(mark.sequence);
      inner.note(mark);
    };
    const { ledger } = setUp(undefined, { witness: { ...inner, note } });
    await ledger.open();
    await ledger.move(REF, claimOf());
    expect(noted).toEqual([0, 1]);
    const others = ["b", "c", "d"].map((other) => ({ ...REF, id: other }));
    await Promise.all(others.map((ref) => ledger.move(ref, claimOf())));
    expect(noted).toEqual([0, 1, 4]);
    await ledger.move({ ...REF, id: "e" }, claimOf());
    expect(noted).toEqual([0, 1, 4, 5]);
  });

  test("whose answer shows that the store went back makes it suspect", async () => {
    const setting = setUp((store) => ({
      swap: async (change) => ({ ...(await store.swap(change)), sequence: 0 }),
    }));
    await setting.ledger.open();
    await claimed(setting);
    expect(setting.suspects).toEqual([expect.stringMatching(/went back to an earlier state/)]);
  });

  test("can be made on a store that answers without a promise, and fails if the store does", async () => {
    const failing = setUp(() => ({ swap: () => Promise.reject(new Error("no answer")) }));
    await expect(failing.ledger.move(REF, claimOf())).rejects.toThrow("no answer");
    const answer: Swapped = { ok: true, version: 1, leaseUntil: 5, now: 1, sequence: 1 };
    const plain = setUp(() => ({ swap: () => answer as unknown as Promise<Swapped> }));
    expect(await plain.ledger.move(REF, claimOf())).toMatchObject({ stored: { leaseUntil: 5 } });
  });
});

describe("the record of an open operation", () => {
  const note = { ...settle, move: "note", licence: "refused", leaseMs: 10 } as const;
  const renew = { ...settle, move: "renew", leaseMs: 10 } as const;
  const withdraw = { move: "withdraw", holder: "holder-1", at: 1 } as const;

  test.each([settle, note])(
    "that is gone when its owner makes a $move was lost by the store",
    async (move) => {
      const { ledger, suspects } = setUp();
      await ledger.open();
      expect(await ledger.move(REF, move)).toMatchObject({ tag: "refused", why: "absent" });
      expect(suspects).toEqual(["the record of an open operation is gone"]);
      expect(ledger.suspicion()?.why).toBe(suspects[0]);
      await ledger.trust("ana");
      expect(ledger.suspicion()).toBeUndefined();
    },
  );

  test.each([renew, withdraw])("that is gone at a $move may have been withdrawn", async (move) => {
    const { ledger, suspects } = setUp();
    await ledger.open();
    expect(await ledger.move(REF, move)).toMatchObject({ tag: "refused", why: "absent" });
    expect(suspects).toEqual([]);
  });

  test("that is no longer the owner's was not lost", async () => {
    const setting = setUp();
    await setting.ledger.open();
    await claimed(setting);
    const stale = await setting.ledger.move(REF, { ...settle, holder: "holder-2" });
    expect(stale).toMatchObject({ tag: "refused", why: "stale" });
    expect(setting.suspects).toEqual([]);
  });
});
