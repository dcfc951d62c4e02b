/** A store that has lost data is found out: when it is opened, and by its answer to every write. */
import { describe, expect, test } from "vitest";
import { changeOf, OPENED, watched } from "./watched.ts";

const opened = async () => {
  const ledger = watched();
  await ledger.compare();
  ledger.noted.length = 0;
  return ledger;
};

describe("a ledger that is opened", () => {
  test("for the first time is believed, and noted as first seen now", async () => {
    const { watch, compare, noted, suspects } = watched();
    expect(watch.seen()).toBeUndefined();
    await compare();
    expect(noted).toEqual([{ id: "a", sequence: 10, since: 1_000, timeline: undefined }]);
    expect(watch.seen()).toEqual({ sequence: 10, skipped: 0 });
    expect([watch.suspicion(), suspects]).toEqual([undefined, []]);
  });

  test("again is noted further on, with the time at which it was first seen", async () => {
    const ledger = watched();
    ledger.seen = { id: "a", sequence: 7, since: 300 };
    await ledger.compare();
    expect(ledger.noted).toMatchObject([{ sequence: 10, since: 300 }]);
    expect(ledger.watch.suspicion()).toBeUndefined();
  });

  test("and is behind its mark is suspected, told once, and its mark is not lowered", async () => {
    const ledger = watched();
    ledger.seen = { id: "a", sequence: 12, since: 300 };
    await ledger.compare();
    const why = expect.stringMatching(/older than the one seen before/);
    expect(ledger.watch.suspicion()).toEqual({ why, since: 300 });
    expect(ledger.suspects).toEqual([why]);
    expect(ledger.noted).toMatchObject([{ sequence: 10, since: 300, suspect: why }]);
  });

  test("and was behind only because others wrote meanwhile is believed", async () => {
    const ledger = watched();
    ledger.seen = { id: "a", sequence: 12, since: 300 };
    const answers = [OPENED, { ...OPENED, sequence: 15, now: 2_000 }];
    await ledger.watch.compare(async () => answers.shift() ?? OPENED);
    expect(ledger.watch.suspicion()).toBeUndefined();
    expect(ledger.watch.seen()).toEqual({ sequence: 15, skipped: 0 });
  });

  test("and is as far as its mark is asked once", async () => {
    const ledger = watched();
    let asked = 0;
    await ledger.watch.compare(async () => {
      asked += 1;
      return OPENED;
    });
    expect(asked).toBe(1);
  });
});

describe("a ledger on another timeline", () => {
  const seen = { id: "a", sequence: 9, since: 300, timeline: "one" };

  /** `seen` is what the witness has; the store answers on the timeline "two", and has what `holds` says. */
  async function reopened(mark: object, holds?: () => Promise<boolean>, timeline?: string) {
    const asked: number[] = [];
    const ledger = watched(
      holds &&
        ((sequence) => {
          asked.push(sequence);
          return holds();
        }),
    );
    ledger.seen = { ...seen, ...mark };
    ledger.found = { ...OPENED, timeline: timeline ?? "two" };
    await ledger.compare();
    return { asked, why: ledger.watch.suspicion()?.why, noted: ledger.noted };
  }

  test("is suspected if it lacks the change that was seen last", async () => {
    const { asked, why } = await reopened({}, async () => false);
    expect(asked).toEqual([9]);
    expect(why).toMatch(/lacks the last change seen before \(9\)/);
  });

  test("is believed if it has that change, and its timeline is noted", async () => {
    const { asked, why, noted } = await reopened({}, async () => true);
    expect([asked, why]).toEqual([[9], undefined]);
    expect(noted).toMatchObject([{ sequence: 10, timeline: "two" }]);
  });

  test("is not asked where there is nothing to look for, or it cannot tell", async () => {
    const lost = async () => false;
    expect(await reopened({ sequence: 0 }, lost)).toMatchObject({ asked: [], why: undefined });
    expect(await reopened({ timeline: undefined }, lost)).toMatchObject({ why: undefined });
    expect(await reopened({}, lost, "one")).toMatchObject({ asked: [], why: undefined });
    expect(await reopened({})).toMatchObject({ why: undefined });
  });

  test("is suspected as another ledger if it is one, whatever it holds", async () => {
    const { asked, why } = await reopened({ id: "b" }, async () => false);
    expect(asked).toEqual([]);
    expect(why).toMatch(/not the one seen before/);
  });
});

describe("a write that the store answers", () => {
  test("before the ledger was opened says nothing", () => {
    const { watch, noted } = watched();
    const swapped = { ok: true, version: 1, leaseUntil: undefined, now: 0, sequence: 1 } as const;
    expect(watch.follow(undefined, changeOf({}), swapped, true)).toBeUndefined();
    expect([watch.seen(), noted]).toEqual([undefined, []]);
  });

  test("raises the mark at once where nothing else is under way", async () => {
    const ledger = await opened();
    expect(ledger.written({ sequence: 11 })).toBeUndefined();
    expect(ledger.noted).toMatchObject([{ sequence: 11, since: 1_000 }]);
    expect(ledger.watch.seen()).toEqual({ sequence: 11, skipped: 0 });
  });

  test("with a sequence that was there before shows that the ledger went back", async () => {
    for (const sequence of [10, 4]) {
      const ledger = await opened();
      await ledger.written({ sequence });
      expect(ledger.watch.suspicion()).toEqual({
        why: expect.stringContaining(`its sequence is ${sequence}, it was 10`),
        since: 1_000,
      });
      // The mark is the proof: it says what was there.
      expect(ledger.noted).toMatchObject([{ sequence: 10, suspect: ledger.suspects[0] }]);
    }
  });

  test("among others is judged by what was seen when it was sent", async () => {
    const ledger = await opened();
    const before = ledger.watch.seen();
    await ledger.written({ sequence: 12, before });
    await ledger.written({ sequence: 11, before });
    expect(ledger.watch.suspicion()).toBeUndefined();
    expect(ledger.watch.seen()).toEqual({ sequence: 12, skipped: 1 });
  });

  test("together with others is noted once, with the last of them", async () => {
    const ledger = await opened();
    const before = ledger.watch.seen();
    await Promise.all(
      [11, 12, 13].map((sequence) => ledger.written({ sequence, before, isAlone: false })),
    );
    expect(ledger.noted).toMatchObject([{ sequence: 13 }]);
  });

  test("of a suspected ledger raises no mark", async () => {
    const ledger = await opened();
    ledger.watch.doubt("a record is gone");
    expect(ledger.noted).toMatchObject([{ sequence: 10, suspect: "a record is gone" }]);
    await ledger.written({ sequence: 11 });
    await ledger.written({ sequence: 12, isAlone: false });
    expect(ledger.noted).toHaveLength(1);
  });
});

describe("a claim that another process overtook", () => {
  test("asks what others have found, and believes them", async () => {
    const ledger = await opened();
    ledger.doubted = { id: "a", sequence: 3, since: 200, suspect: "found by another" };
    await ledger.written({ sequence: 12, isClaim: true });
    expect(ledger.watch.suspicion()).toEqual({ why: "found by another", since: 200 });
    expect(ledger.suspects).toEqual(["found by another"]);
    expect(ledger.noted[0]).toMatchObject({ sequence: 12 });
  });

  test("asks nobody where none has written between, nor does a write that is no claim", async () => {
    const ledger = await opened();
    ledger.doubted = { id: "a", sequence: 3, since: 200, suspect: "found by another" };
    await ledger.written({ sequence: 11, isClaim: true });
    await ledger.written({ sequence: 13 });
    // What was skipped before it was sent has been asked about, or was not in its way.
    await ledger.written({ sequence: 14, isClaim: true });
    expect([ledger.asked, ledger.watch.suspicion()]).toEqual([0, undefined]);
  });

  test("goes on where others have found nothing, or the witness cannot say", async () => {
    const ledger = await opened();
    await ledger.written({ sequence: 12, isClaim: true });
    expect([ledger.asked, ledger.watch.suspicion()]).toEqual([1, undefined]);
    ledger.broken = true;
    await ledger.written({ sequence: 14, isClaim: true });
    expect(ledger.errors).toHaveLength(2);
    expect(ledger.watch.suspicion()).toBeUndefined();
  });
});

describe("a witness that fails", () => {
  test("fails no write, is told once, and is asked to note no more", async () => {
    const ledger = await opened();
    ledger.broken = true;
    await ledger.written({ sequence: 11 });
    await ledger.written({ sequence: 12 });
    expect(ledger.errors).toEqual([new Error("disk full")]);
    ledger.broken = false;
    await ledger.written({ sequence: 13 });
    expect(ledger.noted).toEqual([]);
    expect(ledger.watch.seen()).toEqual({ sequence: 13, skipped: 0 });
  });
});
