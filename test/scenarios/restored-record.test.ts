/** A record that the store has lost is written down anew as its owner knows it: what still runs has not ended. */
import { expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { absent, committed } from "../../src/engine/define/reading.ts";
import { notApplied } from "../../src/index.ts";
import type { OperationRecord } from "../../src/ledger/record.ts";
import type { Store } from "../../src/ledger/store.ts";
import { memoryStore } from "../../src/stores/memory.ts";
import { virtualClock } from "../engine/virtual-clock.ts";

const ONCE = { scope: "s" };

function open() {
  const clock = virtualClock();
  const inner = memoryStore({ now: clock.now, forgets: "accepted" });
  let beforeMaking: ((record: OperationRecord) => Promise<void>) | undefined;
  // It keeps its records, but for the one loss.
  const store: Store = {
    ...inner,
    promise: { ...inner.promise, mayForget: false },
    swap: async (change) => {
      const making = change.expect === 0 && change.record ? beforeMaking : undefined;
      if (change.record && making) {
        beforeMaking = undefined;
        await making(change.record);
      }
      return inner.swap(change);
    },
  };
  const hf = createHoldfire({
    store,
    retry: { leaseMs: 1_500, minDelayMs: 1 },
    surroundings: { clock, random: () => 0.5 },
  });
  const read = async () => (await inner.list({ tenant: "default" })).items[0];
  const lose = async () => {
    const lost = await read();
    if (!lost) throw new Error("there is no record");
    const { record, version: expect } = lost;
    const change = { tenant: "default", id: record.id, expect, record: undefined };
    await inner.swap({ ...change, lease: "none" });
  };
  const put = (record: OperationRecord) =>
    inner.swap({ tenant: "default", id: record.id, expect: 0, record, lease: "none" });
  const later = (ms: number) => new Promise<void>((resolve) => clock.after(ms, resolve));
  const onMaking = (then: typeof beforeMaking) => {
    beforeMaking = then;
  };
  return { clock, hf, read, lose, put, later, onMaking };
}

test.each([1, 2])("attempt %i, which still runs: nothing is fired beside it", async (running) => {
  const { clock, hf, read, lose, later } = open();
  let fired = 0;
  let paid = 0;
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    attemptTimeoutMs: 400,
    deadlineMs: 900,
    commitsWithinMs: 200,
    classify: () => "not_sent",
    run: async (_: object) => {
      fired += 1;
      if (fired < running) throw new Error("connection refused");
      await later(3_000);
      paid += 1;
    },
    readState: () => (paid > 0 ? committed(undefined) : absent()),
  });
  const first = pay.outcome({}, ONCE);
  await clock.advance(600);
  const before = (await read())?.record;
  await lose();
  expect(await clock.run(first)).toMatchObject({ status: "in_progress" });
  const restored = (await read())?.record;
  expect(restored).toMatchObject({ fired: running, createdAt: before?.createdAt });
  const [last] = restored?.attempts.slice(-1) ?? [];
  expect(last).toMatchObject({ n: running, at: before?.attempts.at(-1)?.at });
  expect(last?.endedAt).toBeUndefined();
  expect(last?.endsBy).toBeGreaterThan(clock.now());

  expect(await clock.run(pay.outcome({}, ONCE))).toMatchObject({ status: "unknown" });
  expect(fired).toBe(running);
  await clock.advance(3_000);
  expect(await clock.run(pay.outcome({}, ONCE))).toMatchObject({ status: "committed" });
  expect([fired, paid]).toEqual([running, 1]);
});

test("what another process has sent since is not over because this one was rejected", async () => {
  const { clock, hf, read, lose, put, later, onMaking } = open();
  const pay = hf.tool({
    name: "pay",
    kind: "write",
    run: async (_: object) => {
      await later(100);
      throw notApplied("no");
    },
  });
  const call = pay.outcome({}, ONCE);
  await clock.advance(50);
  await lose();
  const theirs = { tag: "unknown", reason: "still_running" } as const;
  onMaking(async (made) => {
    const createdAt = made.createdAt + 10;
    const endsBy = createdAt + 60_000;
    const attempt = {
      n: 1,
      epoch: 1,
      generation: 0,
      licence: "first",
      at: createdAt,
      endsBy,
    } as const;
    await put({ ...made, createdAt, epoch: 1, state: theirs, attempts: [attempt] });
  });
  await clock.run(call);
  const { record } = (await read()) ?? {};
  expect(record?.state).toEqual(theirs);
  expect(record?.attempts).toHaveLength(1);
  expect(record?.attempts[0]?.endedAt).toBeUndefined();
  expect(record?.attempts[0]?.verdict).toBeUndefined();
});
