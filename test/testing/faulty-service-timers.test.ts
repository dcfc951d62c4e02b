import { expect, test } from "vitest";
import { createTimers } from "../../src/testing/faulty-service/timers.ts";

/** Timers that fire when told to, and say who is still waiting. */
function manualAfter() {
  const waiting = new Set<() => void>();
  return {
    waiting,
    after(_ms: number, call: () => void) {
      waiting.add(call);
      return () => {
        waiting.delete(call);
      };
    },
  };
}

test("a commit called for early is not done again when its time comes", () => {
  const { after, waiting } = manualAfter();
  const timers = createTimers(after);
  const done: string[] = [];
  timers.commitAfter(5, () => done.push("commit"));
  timers.after(5, () => done.push("answer"));
  const [commitDue] = waiting;
  expect(timers.commitAll()).toBe(1);
  commitDue?.();
  expect(done).toEqual(["commit"]);
  expect(timers.commitAll()).toBe(0);
});

test("a timer that calls back at once is honoured, and leaves nothing behind", () => {
  const timers = createTimers((_ms, call) => {
    call();
    return () => {};
  });
  let calls = 0;
  timers.commitAfter(0, () => {
    calls += 1;
  });
  expect(timers.commitAll()).toBe(0);
  expect(calls).toBe(1);
});

test("once stopped, nothing waits and nothing new is taken on", () => {
  const { after, waiting } = manualAfter();
  const timers = createTimers(after);
  timers.after(5, () => expect.unreachable());
  timers.commitAfter(5, () => expect.unreachable());
  timers.stop();
  timers.after(5, () => expect.unreachable());
  timers.commitAfter(5, () => expect.unreachable());
  expect(waiting.size).toBe(0);
  expect(timers.commitAll()).toBe(0);
});
