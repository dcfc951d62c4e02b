/** What keeps a process alive while a call waits. A call that nothing keeps alive ends with its process, untold. */
import { expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { type Clock, systemClock } from "../../src/lang/clock.ts";
import { memoryStore } from "../../src/stores/memory.ts";

/** Knows the timers that keep the process alive. */
function watched(): Clock & { readonly awake: Set<number> } {
  const awake = new Set<number>();
  return {
    ...systemClock,
    awake,
    after(ms, call, idle) {
      if (!idle) awake.add(ms);
      const cancel = systemClock.after(ms, call, idle);
      return () => {
        awake.delete(ms);
        cancel();
      };
    },
  };
}

test("the process lives while a person is asked, until the deadline of the call", async () => {
  const clock = watched();
  let onAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  let answer: (yes: { approve: true; by: string }) => void = () => {};
  const hf = createHoldfire({
    store: memoryStore({ forgets: "accepted" }),
    surroundings: { clock },
    confirm: () =>
      new Promise((resolve) => {
        answer = resolve;
        onAsked();
      }),
  });
  const wipe = hf.tool({ name: "wipe", kind: "destructive", run: async () => "wiped" });
  const wiping = wipe({}, { scope: "turn-1", deadlineMs: 9_000 });
  await asked;
  const [ms = 0] = clock.awake;
  expect(clock.awake.size).toBe(1);
  expect(ms).toBeGreaterThan(0);
  expect(ms).toBeLessThanOrEqual(9_000);
  answer({ approve: true, by: "ana" });
  expect(await wiping).toBe("wiped");
  expect(clock.awake.size).toBe(0);
});
