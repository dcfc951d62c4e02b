import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Store } from "../../src/ledger/store.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
const DIGEST = "RpBDJnGxuRgpIRaf5KY-CsUFM39LByvEIfkHZvQJUik";
const RUN = "ef4f6b2e-07ef-4fb7-8ffd-e30aca7cf943";
const NOW = 1_750_000_000_000;

/** As the engine writes them. */
const claimed = (id: string) =>
  recordOf({
    id,
    service: "refund_payment",
    run: RUN,
    runs: [RUN],
    fingerprint: DIGEST,
    argsHash: DIGEST,
    fields: { amount: "lazIky_J", paymentId: "vdr4us1Q" },
    intent: { form: "json", text: '{"amount":400,"paymentId":"pay_1234567"}' },
    state: { tag: "claimed", holder: RUN },
    stateAt: NOW,
    createdAt: NOW,
    attempts: [{ n: 1, epoch: 1, generation: 0, licence: "first", at: NOW }],
  });

const settled = (id: string, text: string) => {
  const record = claimed(id);
  const ended = { endedAt: NOW, verdict: "committed", tookKey: true, wireRequests: 1 } as const;
  return {
    ...record,
    intent: undefined,
    state: { tag: "committed", via: "reply", attempt: 1, payload: { form: "json", text } } as const,
    attempts: record.attempts.map((attempt) => ({ ...attempt, ...ended })),
  };
};

describe("a row", () => {
  test("of an operation with a result of 1 KB takes at most 2.5 KB of the file", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path, durability: "process" });
    const text = JSON.stringify("y".repeat(1_022));
    const ids = Array.from({ length: 4_000 }, (_, index) => `${index}`.padStart(43, "-"));
    await Promise.all(
      ids.map(async (id) => {
        const { version } = await mustSwap(store, { ...create(claimed(id)), lease: 25_000 });
        await mustSwap(store, { ...create(settled(id, text)), expect: version });
      }),
    );
    await store.close();
    expect(statSync(path).size / ids.length).toBeLessThanOrEqual(2.5 * 1_024);
  });
});

describe("a call", () => {
  test("among thousands writes five pages to claim and three to settle, if none is split", async () => {
    const path = join(newFolder(), "ledger.db");
    const idOf = (n: number) => hash("sha256", `${n}`, "base64url");
    const claim = (store: Store, n: number) => {
      const record = { ...claimed(idOf(n)), scope: `run-${n}` };
      return mustSwap(store, { ...create(record), lease: 25_000 });
    };
    const settle = (store: Store, n: number, version: number) => {
      const record = { ...settled(idOf(n), '"y"'), scope: `run-${n}` };
      return mustSwap(store, { ...create(record), expect: version });
    };
    const others = sqliteStore({ path, durability: "process" });
    await Promise.all(
      Array.from({ length: 3_000 }, async (_, n) =>
        settle(others, n, (await claim(others, n)).version),
      ),
    );
    await others.close();

    // A new log. It only grows: SQLite begins it anew after a thousand pages.
    const store = sqliteStore({ path, durability: "process" });
    await store.open();
    const written: (readonly [claim: number, settle: number])[] = [];
    for (let n = 3_000; n < 3_050; n += 1) {
      const before = pagesOfLog(path);
      const { version } = await claim(store, n);
      const between = pagesOfLog(path);
      await settle(store, n, version);
      written.push([between - before, pagesOfLog(path) - between]);
    }
    await store.close();
    const least = (which: 0 | 1) => Math.min(...written.map((pages) => pages[which]));
    expect([least(0), least(1)]).toEqual([5, 3]);
    const mostly = written.filter(([claim, settle]) => claim <= 6 && settle === 3);
    expect(mostly.length).toBeGreaterThan(30);
  });

  /** A page has 24 bytes before it in the log, and the log begins with 32. */
  function pagesOfLog(path: string): number {
    const size = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    return Math.max(size - 32, 0) / (4_096 + 24);
  }
});

describe("a payload", () => {
  test("goes with its record, and is replaced with it", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    const change = (text: string, expected: number) => ({
      ...create(settled("a", JSON.stringify(text))),
      expect: expected,
    });
    const { version } = await mustSwap(store, change("x".repeat(1_100), 0));
    const same = await mustSwap(store, change("x".repeat(1_100), version));
    const other = await mustSwap(store, change("y".repeat(2_000), same.version));
    expect((await mustRead(store, "acme", "a")).record).toEqual(
      settled("a", JSON.stringify("y".repeat(2_000))),
    );
    await mustSwap(store, { ...change("", other.version), record: undefined });
    await store.close();
    expect(readFileSync(path, "latin1")).not.toMatch(/x{100}|y{100}/);
  });
});
