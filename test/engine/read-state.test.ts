/** What other operations of equal intent may know of one that is read: whether a reply to it is still to come. */
import { describe, expect, test } from "vitest";
import { absent } from "../../src/engine/define/reading.ts";
import { readState } from "../../src/engine/steps/read-state.ts";
import { ownerOf } from "./owner-of.ts";

const LOST = { verdict: "unknown" } as const;

async function opened() {
  const seen: unknown[] = [];
  const owner = await ownerOf({
    tool: {
      keyed: undefined,
      readState: () => {
        seen.push(owner.owned.execution.inDoubt);
        return absent();
      },
    },
  });
  const { owned, engine } = owner;
  const read = () => engine.clock.run(readState(owned, engine));
  return { ...owner, seen, read };
}

describe("an operation is marked as one to which no reply is to come", () => {
  test("while it is in doubt, up to the attempt noted last", async () => {
    const { owned, seen, read, fire } = await opened();
    await fire(LOST);
    await read();
    await fire(LOST);
    await read();
    const { epoch } = owned;
    expect(seen).toEqual([
      { epoch, n: 1 },
      { epoch, n: 2 },
    ]);
    expect(owned.execution.inDoubt).toEqual({ epoch, n: 2 });
  });

  test("not while an attempt of it runs", async () => {
    const { owned, engine, seen, read, fire } = await opened();
    await fire(LOST);
    engine.live.beginAttempt(owned.operation.ref.id, 1);
    await read();
    expect(seen).toEqual([undefined]);
  });

  test("before it is sent for the first time, and no longer than the look lasts", async () => {
    const { owned, seen, read } = await opened();
    await read();
    expect(seen).toEqual([{ epoch: owned.epoch, n: 1 }]);
    expect(owned.execution.inDoubt).toBeUndefined();
  });
});
