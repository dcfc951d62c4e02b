import { beforeEach, describe, expect, test } from "vitest";
import {
  brokenReader,
  cannotTell,
  committed,
  type StateQuery,
} from "../../src/engine/define/reading.ts";
import { askReader, isBroken, type Sought } from "../../src/engine/reader.ts";
import { wireKeys } from "../../src/key/mint.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { engineOf, operationOf, type TestEngine } from "./engine-of.ts";

let engine: TestEngine;

beforeEach(async () => {
  engine = engineOf();
  await engine.ledger.open();
});

/** Asks this reader, about an operation in this record. */
function ask(
  readState: (query: StateQuery) => unknown,
  rest: Partial<OperationRecord> = {},
  item = "tea",
  sought: Sought = { tag: "may_take" },
) {
  const operation = operationOf(engine, { readState, service: "shop" }, { item });
  const { id, tenant } = operation.ref;
  const asked = askReader(operation, recordOf({ id, tenant, ...rest }), 60_000, engine, sought);
  return engine.clock.run(asked);
}

describe("a reader", () => {
  test("is asked by intent and keys, never by arguments", async () => {
    let seen: StateQuery | undefined;
    await ask(
      (query) => {
        seen = query;
        return committed(1);
      },
      { generation: 2, attempts: [{ n: 1, epoch: 1, generation: 0, licence: "first", at: 77 }] },
    );
    const { id } = operationOf(engine, {}, { item: "tea" }).ref;
    expect(seen?.intent).toEqual({ item: "tea" });
    expect(seen?.keys).toEqual(wireKeys(id, 2));
    expect(seen?.key).toBe(seen?.keys.at(-1));
    expect(seen?.firstSentAt).toBe(77);
    expect(Object.keys(seen ?? {})).not.toContain("args");
  });

  test("without an attempt, the first could have been sent when it was created", async () => {
    let seen: number | undefined;
    await ask(
      ({ firstSentAt }) => {
        seen = firstSentAt;
        return committed(1);
      },
      { attempts: [], createdAt: 55 },
    );
    expect(seen).toBe(55);
  });

  test("that throws, hangs or answers nonsense cannot tell, and that is told", async () => {
    const failed: string[] = [];
    engine.events.on("warning", (event) => {
      if (event.code === "reader_failed") failed.push(`${event.which} ${event.why}`);
    });
    const boom = () => {
      throw new Error("boom");
    };
    expect(await ask(boom)).toEqual(brokenReader("failed"));
    expect(await ask(() => new Promise(() => {}))).toEqual(brokenReader("late"));
    expect(await ask(() => 7)).toEqual(brokenReader("nonsense"));
    // A reader that says so itself has answered.
    expect(isBroken(await ask(() => cannotTell("late")))).toBe(false);
    expect(failed).toEqual(["readState failed", "readState late", "readState nonsense"]);
  });

  test("that says itself that it cannot tell has not failed", async () => {
    const failed: string[] = [];
    engine.events.on("warning", (event) => {
      if (event.code === "reader_failed") failed.push(event.why);
    });
    const why = "the index is being rebuilt";
    expect(await ask(() => ({ reading: "cannot_tell", why }))).toEqual({
      reading: "cannot_tell",
      why,
    });
    expect(failed).toEqual([]);
  });

  test("is told to stop when its time is up", async () => {
    let signal: AbortSignal | undefined;
    await ask((query) => {
      ({ signal } = query);
      return new Promise(() => {});
    });
    expect(signal?.aborted).toBe(true);
    expect(engine.clock.monotonic()).toBe(5_000);
  });
});

describe("found is not mine", () => {
  test("an effect belongs to the operation that named it first", async () => {
    const reader = () => committed("made", { effectId: "ef_1" });
    expect(await ask(reader, {}, "tea")).toMatchObject({ reading: "committed" });
    expect(await ask(reader, {}, "tea")).toMatchObject({ reading: "committed" });
    expect(await ask(reader, {}, "milk")).toMatchObject({ reading: "cannot_tell" });
  });

  test("an operation that is done does not take the effect of another", async () => {
    const another = () => committed("made", { effectId: "ef_2" });
    const done = { tag: "has_its_own", effectId: "ef_1" } as const;
    expect(await ask(another, {}, "tea", done)).toMatchObject({ reading: "cannot_tell" });
    const some = { tag: "has_its_own", effectId: undefined } as const;
    expect(await ask(another, {}, "tea", some)).toMatchObject({ reading: "committed" });
    expect(await ask(another, {}, "milk")).toMatchObject({ reading: "committed" });
  });

  test("`taken` says whose it is", async () => {
    const takenBy = async (item: string) => {
      let answer: boolean | undefined;
      await ask(
        async ({ taken }) => {
          answer = await taken("ef_1");
          return { reading: "absent" };
        },
        {},
        item,
      );
      return answer;
    };
    expect(await takenBy("tea")).toBe(false);
    await ask(() => committed(1, { effectId: "ef_1" }), {}, "tea");
    expect(await takenBy("tea")).toBe(false);
    expect(await takenBy("milk")).toBe(true);
  });

  test("without an effect id nothing is claimed", async () => {
    await ask(() => committed(1));
    expect(engine.failing.asked).not.toContain("own");
  });

  test("a ledger that does not answer makes it cannot tell", async () => {
    engine.failing.fail("hangs", (step) => step === "own");
    const reading = await ask(() => committed(1, { effectId: "ef_1" }));
    expect(reading).toMatchObject({ reading: "cannot_tell" });
  });
});
