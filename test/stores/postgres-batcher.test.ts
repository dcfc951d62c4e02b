/** Which moves share a statement, and what becomes of those that it could not make; against no server. */
import { describe, expect, test } from "vitest";
import { ClosedError } from "../../src/errors.ts";
import type { Swapped } from "../../src/ledger/store.ts";
import { type Batcher, createBatcher } from "../../src/stores/postgres/batch.ts";
import { type Move, moveOf } from "../../src/stores/postgres/row.ts";
import type { Answer } from "../../src/stores/postgres/swap.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create } from "../../src/testing/store-contract/subject.ts";

const OK: Swapped = { ok: true, version: 1, leaseUntil: undefined, now: 0, sequence: 1 };

const moveWith = (id: string, lane?: string): Move =>
  moveOf({
    ...create(recordOf({ id })),
    lane: lane === undefined ? undefined : { name: lane, expect: 0, lane: { queue: [] } },
  });
const moves = (count: number): Move[] =>
  Array.from({ length: count }, (_, n) => moveWith(`operation-${n}`));

interface Statement {
  readonly moves: readonly Move[];
  /** Answers each of its moves; by default as made. */
  done(answer?: Answer): void;
  fail(code: string): void;
}

/** A batcher whose statements end when the test says so. */
function opened(pause: (ms: number) => Promise<"slept" | "woken"> = async () => "slept") {
  const sent: Statement[] = [];
  const batcher = createBatcher({
    run: (asked) =>
      new Promise((resolve, reject) => {
        const done = (answer: Answer = OK) =>
          resolve(new Map(asked.map(({ key }) => [key, answer])));
        const fail = (code: string) => reject(Object.assign(new Error(code), { code }));
        sent.push({ moves: asked, done, fail });
      }),
    pause,
  });
  return { sent, batcher };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const turns = async (): Promise<void> => {
  for (let n = 0; n < 5; n += 1) await turn();
};
const askAll = (batcher: Batcher, all: readonly Move[]) =>
  Promise.allSettled(all.map((move) => batcher.swap(move)));
const sizes = (sent: readonly Statement[]) => sent.map((statement) => statement.moves.length);

/** Ends statements as they come until all is answered. */
async function finish(sent: Statement[], asked: Promise<unknown>): Promise<void> {
  let isOver = false;
  void asked.then(() => {
    isOver = true;
  });
  for (let next = 0; !isOver; ) {
    for (; next < sent.length; next += 1) sent[next]?.done();
    await turn();
  }
}

describe("what shares a statement", () => {
  test.each([
    [1, [1]],
    [25, [25]],
    // While both statements are free each gets half, but no less than what is worth a statement.
    [30, [25, 5]],
    [200, [100, 100]],
    [501, [250, 250]],
  ])("%d at once: %j", async (count, expected) => {
    const { sent, batcher } = opened();
    const asked = askAll(batcher, moves(count));
    await turns();
    expect(sizes(sent)).toEqual(expected);
    await finish(sent, asked);
    expect(sizes(sent).reduce((sum, size) => sum + size, 0)).toBe(count);
    expect((await asked).every(({ status }) => status === "fulfilled")).toBe(true);
  });

  test("no more than two statements are under way: what comes meanwhile goes with the next", async () => {
    const { sent, batcher } = opened();
    const first = askAll(batcher, moves(60));
    await turns();
    const later = askAll(batcher, [moveWith("x"), moveWith("y")]);
    await turns();
    expect(sizes(sent)).toEqual([30, 30]);
    sent[0]?.done();
    await turns();
    expect(sizes(sent)).toEqual([30, 30, 2]);
    await finish(sent, Promise.all([first, later]));
  });

  test("moves of one key never do, nor those of one lane: the later one waits for the first", async () => {
    for (const pair of [
      [moveWith("a"), moveWith("a")],
      [moveWith("a", "lane"), moveWith("b", "lane")],
    ]) {
      const { sent, batcher } = opened();
      const asked = askAll(batcher, pair);
      await turns();
      expect(sizes(sent)).toEqual([1]);
      sent[0]?.done();
      await turns();
      expect(sizes(sent)).toEqual([1, 1]);
      await finish(sent, asked);
    }
    const { sent, batcher } = opened();
    const apart = askAll(batcher, [moveWith("a", "one"), moveWith("b", "two")]);
    await turns();
    expect(sizes(sent)).toEqual([2]);
    await finish(sent, apart);
  });

  test("they are in the order of their keys", async () => {
    const { sent, batcher } = opened();
    const asked = askAll(batcher, moves(20));
    await turns();
    const keys = sent[0]?.moves.map(({ key }) => key) ?? [];
    expect(keys).toEqual(keys.toSorted());
    await finish(sent, asked);
  });
});

describe("a statement that was undone", () => {
  test.each(["22021", "23505", "40001", "40P01", "54000", "55P03", "57014"])(
    "with %s: each of its moves is tried alone",
    async (code) => {
      const { sent, batcher } = opened();
      const asked = askAll(batcher, moves(3));
      await turns();
      sent[0]?.fail(code);
      await turns();
      expect(sizes(sent)).toEqual([3, 1, 1, 1]);
      await finish(sent, asked);
      expect((await asked).map(({ status }) => status)).toEqual(Array(3).fill("fulfilled"));
    },
  );

  test.each(["08006", "57P01", "XX000", "42P01", "ECONNRESET", "2350"])(
    "with %s, which does not say that it was: all are told, and nothing is tried again",
    async (code) => {
      const { sent, batcher } = opened();
      const asked = askAll(batcher, moves(3));
      await turns();
      sent[0]?.fail(code);
      await turns();
      expect(sizes(sent)).toEqual([3]);
      expect(await asked).toMatchObject(Array(3).fill({ status: "rejected", reason: { code } }));
    },
  );

  test.each([
    ["23505", 3],
    ["55P03", 3],
    ["40001", 3],
    ["22021", 2],
    ["23514", 2],
  ])("alone with %s: it is tried again only where another was in the way", async (code, runs) => {
    const { sent, batcher } = opened();
    const asked = askAll(batcher, [moveWith("a")]);
    await turns();
    sent[0]?.fail(code);
    await turns();
    sent[1]?.fail(code);
    await turns();
    expect(sent).toHaveLength(runs);
    sent[2]?.done();
    const [swapped] = await asked;
    expect(swapped?.status).toBe(runs === 3 ? "fulfilled" : "rejected");
  });

  test("a row that was locked is tried alone until it is free", async () => {
    const pauses: number[] = [];
    const { sent, batcher } = opened(async (ms) => {
      pauses.push(ms);
      return "slept";
    });
    const swapping = batcher.swap(moveWith("a"));
    for (const at of [0, 1, 2]) {
      await turns();
      sent[at]?.done("busy");
    }
    await turns();
    sent[3]?.done();
    expect(await swapping).toEqual(OK);
    expect(pauses).toEqual([2, 4, 8]);
  });
});

describe("closing", () => {
  test("refuses what waits and what comes, and returns when nothing is under way", async () => {
    const { sent, batcher } = opened();
    const under = batcher.swap(moveWith("a"));
    await turns();
    const waiting = batcher.swap(moveWith("a"));
    const refused = expect(waiting).rejects.toBeInstanceOf(ClosedError);
    let isClosed = false;
    const closing = batcher.close().then(() => {
      isClosed = true;
    });
    await refused;
    await expect(batcher.swap(moveWith("b"))).rejects.toBeInstanceOf(ClosedError);
    await turns();
    expect(isClosed).toBe(false);
    sent[0]?.done();
    expect(await under).toEqual(OK);
    await closing;
    expect(sizes(sent)).toEqual([1]);
  });

  test("ends the pause of one that waits for a locked row", async () => {
    const { sent, batcher } = opened(async () => "woken");
    const swapping = batcher.swap(moveWith("a"));
    const refused = expect(swapping).rejects.toBeInstanceOf(ClosedError);
    await turns();
    sent[0]?.done("busy");
    await refused;
    expect(sent).toHaveLength(1);
    await batcher.close();
  });
});
