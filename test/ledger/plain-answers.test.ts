import { expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import type { Change, Store } from "../../src/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";

test("a store of a user's own may answer without a promise", async () => {
  const changes: Change[] = [];
  const swap = ((change: Change) => {
    const sequence = changes.push(change);
    const now = Date.now();
    const leaseUntil = typeof change.lease === "number" ? now + change.lease : undefined;
    return { ok: true, version: sequence, leaseUntil, now, sequence };
  }) as unknown as Store["swap"];
  const hf = createHoldfire({ store: { ...memoryStore({ forgets: "accepted" }), swap } });
  const order = hf.tool({ name: "order", kind: "write", run: async () => "made" });
  expect(await order({}, { scope: "turn-1" })).toBe("made");
  expect(changes.map(({ record }) => record?.state.tag)).toEqual(["claimed", "committed"]);
});
