/** Another server answers than before: it is asked for the last change that this process knows of. */
import { describe, expect, test } from "vitest";
import type { Stored } from "../../../src/ledger/record.ts";
import { recordOf } from "../../../src/testing/record-of.ts";
import { OPENED, type Watched, watched } from "./watched.ts";

const storedAt = (version: number, createdAt = 5): Stored => ({
  record: recordOf({ createdAt }),
  version,
  leaseUntil: undefined,
});

/** A ledger on server "one", with a change that it has acknowledged. */
async function onOne(timeline?: string): Promise<Watched> {
  const ledger = watched();
  ledger.found = { ...OPENED, server: "one", timeline };
  await ledger.compare();
  await ledger.written({ sequence: 11, server: "one" });
  ledger.noted.length = 0;
  return ledger;
}

/** Server "two" takes its place, and answers the next write. */
async function onTwo(ledger: Watched, there: Stored | undefined, timeline?: string) {
  ledger.found = { ...OPENED, sequence: 11, server: "two", timeline };
  ledger.there = there;
  await ledger.written({ sequence: 12, server: "two", isClaim: true, id: "operation-2" });
  return ledger.watch.suspicion()?.why;
}

describe("another server", () => {
  test("that has the last change, or what became of it, is believed", async () => {
    for (const version of [11, 30]) {
      const ledger = await onOne();
      expect(await onTwo(ledger, storedAt(version))).toBeUndefined();
      expect(ledger.noted).toMatchObject([{ sequence: 12 }]);
    }
  });

  test("that lacks it, has it as it was before, or one made anew, is suspected", async () => {
    for (const there of [undefined, storedAt(10), storedAt(11, 6)]) {
      const ledger = await onOne();
      expect(await onTwo(ledger, there)).toMatch(/lacks the last change seen before \(11\)/);
    }
  });

  test("on the same timeline is the same one after a restart: nothing is looked for", async () => {
    const ledger = await onOne("t1");
    expect(await onTwo(ledger, undefined, "t1")).toBeUndefined();
    expect(ledger.noted).toMatchObject([{ sequence: 12, timeline: "t1" }]);
  });

  test("on another timeline is looked at, and its timeline is noted", async () => {
    expect(await onTwo(await onOne("t1"), undefined, "t2")).toMatch(/lacks the last change/);
    const kept = await onOne("t1");
    expect(await onTwo(kept, storedAt(11), "t2")).toBeUndefined();
    expect(kept.noted).toMatchObject([{ sequence: 12, timeline: "t2" }]);
  });

  test("is looked at once, and then known", async () => {
    const ledger = await onOne();
    await onTwo(ledger, storedAt(11));
    ledger.there = undefined;
    expect(ledger.written({ sequence: 13, server: "two" })).toBeUndefined();
    expect(ledger.watch.suspicion()).toBeUndefined();
  });

  test("is compared with what this process was told by the server before, not by itself", async () => {
    const ledger = await onOne();
    // A removal is known at once, whoever answers it: what is gone is not looked for.
    ledger.found = { ...OPENED, sequence: 11, server: "two" };
    await ledger.written({ sequence: 12, server: "two", isRemoved: true });
    expect(ledger.watch.suspicion()).toBeUndefined();
  });

  test("is not asked for a change that has been withdrawn, but for the one before", async () => {
    const ledger = await onOne();
    await ledger.written({ sequence: 12, server: "one", id: "operation-3" });
    await ledger.written({ sequence: 13, server: "one", id: "operation-3", isRemoved: true });
    ledger.found = { ...OPENED, sequence: 13, server: "two" };
    await ledger.written({ sequence: 14, server: "two", isClaim: true, id: "operation-2" });
    expect(ledger.watch.suspicion()?.why).toMatch(/\(11\)/);
  });

  test("that went back is found by its sequence as well", async () => {
    const ledger = await onOne();
    ledger.found = { ...OPENED, sequence: 4, server: "two" };
    ledger.there = storedAt(11);
    await ledger.written({ sequence: 5, server: "two" });
    expect(ledger.watch.suspicion()?.why).toMatch(/went back to an earlier state/);
  });

  test("that cannot be asked fails a claim, and no other write", async () => {
    const ledger = await onOne();
    Object.defineProperty(ledger, "found", {
      get() {
        throw new Error("no answer");
      },
    });
    await expect(ledger.written({ sequence: 12, server: "two" })).resolves.toBeUndefined();
    expect(ledger.watch.seen()).toEqual({ sequence: 12, skipped: 0 });
    const claim = ledger.written({ sequence: 13, server: "two", isClaim: true });
    await expect(claim).rejects.toThrow("no answer");
  });

  test("overtaken by others on the way, its claim asks what they have found", async () => {
    const ledger = await onOne();
    ledger.doubted = { id: "a", sequence: 3, since: 200, suspect: "found by another" };
    ledger.there = storedAt(11);
    ledger.found = { ...OPENED, sequence: 13, server: "two" };
    await ledger.written({ sequence: 14, server: "two", isClaim: true });
    expect(ledger.watch.suspicion()?.why).toBe("found by another");
  });
});

describe("a store with one server", () => {
  test("keeps no list of what it acknowledged", async () => {
    const ledger = watched();
    await ledger.compare();
    await ledger.written({ sequence: 11 });
    // It has a name from now on, as after an update of the store.
    expect(await onTwo(ledger, undefined)).toBeUndefined();
  });
});

describe("a person who trusts the ledger", () => {
  test("ends the doubt, and what was lost was sent after that", async () => {
    const ledger = watched();
    await ledger.compare();
    ledger.watch.doubt("a record is gone");
    ledger.watch.doubt("and another");
    expect(ledger.suspects).toEqual(["a record is gone"]);
    await ledger.watch.trust({ id: "b", sequence: 3, now: 5_000, timeline: "t2" }, "ana");
    expect(ledger.watch.suspicion()).toBeUndefined();
    expect(ledger.noted.at(-1)).toEqual({ id: "b", sequence: 3, since: 5_000, timeline: "t2" });
    expect(ledger.watch.seen()?.sequence).toBe(3);
    ledger.watch.doubt("once more");
    expect(ledger.watch.suspicion()).toEqual({ why: "once more", since: 5_000 });
  });

  test("has nothing to say of a ledger that was never opened, and nobody doubts it", () => {
    const { watch, suspects } = watched();
    watch.doubt("a record is gone");
    expect([watch.suspicion(), suspects]).toEqual([undefined, []]);
  });
});
