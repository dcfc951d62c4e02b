import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/lang/clock.ts";
import { createWriteQueue, type Job } from "../../src/stores/sqlite/write-queue.ts";

const failure = (message: string, errcode?: number) =>
  Object.assign(new Error(message), { errcode });

/** As a database does that another process has locked. */
const busy = (): never => {
  throw failure("database is locked", 5);
};

/** As a database does of which one job of the batch is to blame. */
const failWhole = (): never => {
  throw failure("constraint failed", 19);
};

/** A job with this value. */
const job =
  (name: string): Job<string> =>
  () =>
    name;

/** As a database does that is free. */
const commitAll = (jobs: readonly Job[]): readonly unknown[] => jobs.map((each) => each());

/** A queue on a database that does what `answers` says, turn by turn, with time in hand. */
function queueOn(answers: readonly (typeof commitAll)[]) {
  let time = 0;
  let timers: { readonly at: number; readonly call: () => void }[] = [];
  let turns: (() => void)[] = [];
  const batches: number[] = [];
  const waits: number[] = [];
  const clock: Clock = {
    now: () => time,
    monotonic: () => time,
    after(ms, call) {
      waits.push(ms);
      timers.push({ at: time + ms, call });
      return () => {};
    },
  };
  const queue = createWriteQueue({
    commit: (jobs) => {
      const reply = answers[batches.length] ?? commitAll;
      batches.push(jobs.length);
      return reply(jobs);
    },
    clock,
    random: () => 0.5,
    soon: (run) => void turns.push(run),
  });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    queue,
    batches,
    waits,
    /** Ends the turn of the event loop. */
    async turn() {
      const due = turns;
      turns = [];
      for (const run of due) run();
      await settle();
    },
    async pass(ms: number) {
      time += ms;
      const due = timers.filter(({ at }) => at <= time);
      timers = timers.filter(({ at }) => at > time);
      for (const { call } of due) call();
      await settle();
    },
  };
}

describe("the queue of writes", () => {
  test("commits all jobs of one turn at once, and answers each with its own", async () => {
    const { queue, batches, turn } = queueOn([]);
    const pushed = ["a", "b", "c"].map((owner) => queue.push(job(owner)));
    expect(batches).toEqual([]);
    await turn();
    expect(await Promise.all(pushed)).toEqual(["a", "b", "c"]);
    expect(batches).toEqual([3]);
  });

  test("commits jobs that come during a commit in the next one", async () => {
    const { queue, batches, turn } = queueOn([]);
    const first = queue.push(job("a")).then(() => queue.push(job("b")));
    await turn();
    await turn();
    expect(await first).toBe("b");
    expect(batches).toEqual([1, 1]);
  });

  test("takes no more than 512 jobs into one transaction, in order", async () => {
    const { queue, batches, turn } = queueOn([]);
    const owners = Array.from({ length: 1_100 }, (_, index) => `${index}`);
    const pushed = owners.map((owner) => queue.push(job(owner)));
    for (let turns = 0; turns < 3; turns++) await turn();
    expect(await Promise.all(pushed)).toEqual(owners);
    expect(batches).toEqual([512, 512, 76]);
  });

  test("fails a job alone, with the code that SQLite gave", async () => {
    const { queue, batches, turn } = queueOn([]);
    const good = queue.push(job("a"));
    const caught = queue
      .push(() => {
        throw failure("too big", 18);
      })
      .catch((error: unknown) => error);
    const after = queue.push(job("c"));
    for (let turns = 0; turns < 4; turns++) await turn();
    expect(await good).toBe("a");
    expect(await caught).toMatchObject({ errcode: 18, message: "too big" });
    expect(await after).toBe("c");
    // Together, and after the failure one by one; then together again.
    const next = ["d", "e"].map((name) => queue.push(job(name)));
    await turn();
    expect(await Promise.all(next)).toEqual(["d", "e"]);
    expect(batches).toEqual([3, 1, 1, 1, 2]);
  });

  test("fails a whole batch when the database does, and goes on with the next", async () => {
    const gone = () => {
      throw new Error("gone");
    };
    const { queue, turn } = queueOn([gone, gone, gone]);
    const failed = ["a", "b"].map((name) => queue.push(job(name)).catch((error: unknown) => error));
    for (let turns = 0; turns < 3; turns++) await turn();
    for (const error of await Promise.all(failed)) expect(error).toMatchObject({ message: "gone" });
    const next = queue.push(job("c"));
    await turn();
    expect(await next).toBe("c");
  });

  test("asks a busy database again from a timer, with all that has come since", async () => {
    const { queue, batches, turn, pass } = queueOn([busy, busy]);
    const first = queue.push(job("a"));
    await turn();
    const second = queue.push(job("b"));
    await pass(10);
    await pass(10);
    expect(await Promise.all([first, second])).toEqual(["a", "b"]);
    expect(batches).toEqual([1, 2, 2]);
  });

  test("does not wait longer the longer it has waited", async () => {
    const { queue, waits, turn, pass } = queueOn(Array.from({ length: 20 }, () => busy));
    const pushed = queue.push(job("a"));
    await turn();
    for (let tries = 0; tries < 20; tries++) await pass(10);
    await pushed;
    expect(waits).toHaveLength(20);
    expect(Math.max(...waits)).toBeLessThanOrEqual(3);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1);
    // One millisecond, and half of the jitter of two.
    expect(new Set(waits)).toEqual(new Set([2]));
  });

  test("gives way after a fight for the lock, and only then", async () => {
    const { queue, batches, waits, turn, pass } = queueOn([busy]);
    const pushed = queue.push(job("a"));
    await turn();
    const again = pushed.then(() => queue.push(job("b")));
    const more = Array.from({ length: 512 }, (_, index) => queue.push(job(`${index}`)));
    await pass(10);
    expect(batches).toEqual([1, 512]);
    await turn();
    expect(batches).toEqual([1, 512]);
    await pass(10);
    expect(batches).toEqual([1, 512, 2]);
    await Promise.all([again, ...more]);
    expect(waits).toHaveLength(2);
  });

  test("gives up on a lock that is not released, with SQLite's own error", async () => {
    const { queue, turn, pass } = queueOn([busy, busy, busy]);
    const old = queue.push(job("a")).catch((error: unknown) => error);
    await turn();
    await pass(29_000);
    const young = queue.push(job("b"));
    expect(await Promise.race([old, "waits"])).toBe("waits");
    await pass(1_500);
    expect(await old).toMatchObject({ errcode: 5 });
    await pass(10);
    expect(await young).toBe("b");
  });

  test("rests when all have given up, and begins anew with the next job", async () => {
    const { queue, batches, waits, turn, pass } = queueOn([failWhole, busy, busy]);
    const old = ["a", "b"].map((name) => queue.push(job(name)).catch((error: unknown) => error));
    await turn();
    await turn();
    await pass(30_500);
    for (const error of await Promise.all(old)) expect(error).toMatchObject({ errcode: 5 });
    await queue.drain();
    expect(waits).toHaveLength(1);
    // Those that failed in one batch are gone: the next ones are together again.
    const next = ["c", "d"].map((name) => queue.push(job(name)));
    await turn();
    expect(await Promise.all(next)).toEqual(["c", "d"]);
    expect(batches).toEqual([2, 1, 1, 2]);
  });

  test("goes on one by one after a batch that failed, also if the first one gives up on a lock", async () => {
    const { queue, batches, turn, pass } = queueOn([busy, busy, failWhole, busy]);
    const old = queue.push(job("a")).catch((error: unknown) => error);
    await turn();
    await pass(29_000);
    const young = ["b", "c"].map((name) => queue.push(job(name)));
    await pass(10);
    await pass(1_500);
    await turn();
    expect(await old).toMatchObject({ errcode: 5 });
    await pass(10);
    await pass(10);
    expect(await Promise.all(young)).toEqual(["b", "c"]);
    expect(batches).toEqual([1, 1, 3, 1, 1, 1]);
  });

  test("has a transaction due from the first job of a turn on, but not while it waits for a lock", async () => {
    const { queue, turn, pass } = queueOn([busy]);
    expect(queue.isDue()).toBe(false);
    const pushed = queue.push(job("a"));
    expect(queue.isDue()).toBe(true);
    await turn();
    expect(queue.isDue()).toBe(false);
    await pass(10);
    expect(await pushed).toBe("a");
    expect(queue.isDue()).toBe(false);
  });

  test("is drained when the last job has ended", async () => {
    const { queue, turn, pass } = queueOn([busy]);
    await queue.drain();
    const pushed = queue.push(job("a"));
    let isDrained = false;
    const drained = queue.drain().then(() => {
      isDrained = true;
    });
    await turn();
    expect(isDrained).toBe(false);
    await pass(10);
    await drained;
    expect(await pushed).toBe("a");
  });
});
