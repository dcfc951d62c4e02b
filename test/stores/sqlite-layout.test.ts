import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { hashOf } from "../../src/stores/sqlite/hash.ts";
import { partsFor, payloadsOf } from "../../src/stores/sqlite/payloads.ts";
import { createRecent } from "../../src/stores/sqlite/recent.ts";
import { rowOf } from "../../src/stores/sqlite/row.ts";
import { STEPS } from "../../src/stores/sqlite/schema.ts";
import { sqliteStore } from "../../src/stores/sqlite.ts";
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

describe("the hash of a name", () => {
  test("is what it was: it is on disk", () => {
    expect(hashOf("acme", "operation-1")).toBe(23_052_353_351_389);
    expect(hashOf("", "")).toBe(36_305_654_851_679);
    expect(hashOf("acme", DIGEST)).toBe(118_818_472_988_121);
    expect(hashOf("Ünïcødé", "漢字 🧨")).toBe(17_511_926_078_242);
  });

  test("fits in six bytes, and does not repeat itself among many", () => {
    const hashes = Array.from({ length: 100_000 }, (_, index) => hashOf("acme", `${index}`));
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(hashes.every((hash) => Number.isSafeInteger(hash) && hash >= 0 && hash < 2 ** 47)).toBe(
      true,
    );
  });

  test("is of the names, not of their letters in a row", () => {
    expect(hashOf("ab", "c")).not.toBe(hashOf("a", "bc"));
    expect(hashOf("a", "b")).not.toBe(hashOf("b", "a"));
    expect(hashOf("a", "")).not.toBe(hashOf("", "a"));
  });

  test("that two operations share does not make them one", async () => {
    const path = join(newFolder(), "ledger.db");
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf({ id: "a" })));
    await store.close();
    const db = new DatabaseSync(path);
    db.prepare("UPDATE operation SET hash = ?").run(hashOf("acme", "b"));
    db.close();
    const again = sqliteStore({ path });
    expect((await again.read("acme", "b")).stored).toBeUndefined();
    const { version } = await mustSwap(again, create(recordOf({ id: "b" })));
    await mustSwap(again, { ...create(recordOf({ id: "b" })), expect: version });
    expect((await mustRead(again, "acme", "b")).record.id).toBe("b");
    const { items } = await again.list({ tenant: "acme" });
    expect(items.map(({ record, version }) => [record.id, version])).toEqual([
      ["a", 1],
      ["b", 3],
    ]);
    await again.close();
  });
});

describe("a row", () => {
  test("does not grow when its operation is settled", () => {
    const before = rowOf(claimed("a"));
    const after = rowOf(settled("a", JSON.stringify("y".repeat(1_000))));
    expect(after.text.length).toBeLessThanOrEqual(before.text.length);
    expect(after.payload).toHaveLength(1_002);
  });

  test("of an operation with a result of 1 KB takes at most 1.7 KB of the file", async () => {
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
    expect(statSync(path).size / ids.length).toBeLessThanOrEqual(1.7 * 1_024);
  });
});

describe("a payload", () => {
  test.each([
    [1, 1],
    [256, 1],
    [1_024, 4],
    [4_000, 1],
    [4_089, 1],
    [1_000_000, 1],
  ])("of %i bytes is cut into %i parts", (bytes, parts) => {
    expect(partsFor(bytes)).toBe(parts);
  });

  test("of any size is never cut into more than eight parts", () => {
    for (let bytes = 1; bytes < 9_000; bytes += 7) {
      expect(partsFor(bytes)).toBeGreaterThanOrEqual(1);
      expect(partsFor(bytes)).toBeLessThanOrEqual(8);
    }
  });

  test("is read as it was written, whatever it is cut into", () => {
    const db = new DatabaseSync(":memory:");
    for (const step of STEPS) db.exec(step);
    const payloads = payloadsOf(db);
    const texts = [0, 1, 300, 900, 1_024, 2_100, 3_000, 5_000].map((length) =>
      "a🧨漢".repeat(length).slice(0, length - (length % 4)),
    );
    payloads.begin();
    const places = texts.map((text) => {
      const parts = payloads.place(text);
      payloads.write(parts, text);
      return parts;
    });
    expect(places.some(({ count }) => count > 1)).toBe(true);
    expect(places.map((parts) => payloads.read(parts))).toEqual(texts);
    for (const parts of places) payloads.remove(parts);
    expect(db.prepare("SELECT count(*) AS left FROM payload").get()).toEqual({ left: 0 });
    db.close();
  });

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
    const db = new DatabaseSync(path);
    expect(db.prepare("SELECT count(*) AS left FROM payload").get()).toEqual({ left: 0 });
    db.close();
  });
});

test("what was met lately is remembered, up to a limit", () => {
  const recent = createRecent();
  for (let hash = 0; hash < 25_000; hash++) recent.add(hash);
  expect(recent.has(24_999)).toBe(true);
  expect(recent.has(15_000)).toBe(true);
  expect(recent.has(0)).toBe(false);
});
