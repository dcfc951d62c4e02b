import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { connect } from "../../src/stores/sqlite/connect.ts";
import { type Engine, engineOn } from "../../src/stores/sqlite/engine.ts";
import { hashOf } from "../../src/stores/sqlite/hash.ts";
import type { SwapDone, SwapJob } from "../../src/stores/sqlite/job.ts";
import { rowOf } from "../../src/stores/sqlite/row.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();

function engineAt(path: string): Engine {
  const connected = connect(path, "process", undefined);
  if (connected.tag !== "connected") throw new Error(`It is ${connected.tag}.`);
  return engineOn(connected.connection, false);
}

const row = rowOf(recordOf());
/** A few names share a hash, as one in many millions does. */
const hashFor = (id: string): number => hashOf("acme", id) % 50_000;

const job = (id: string, expect: number, row: SwapJob["row"]): SwapJob => ({
  kind: "swap",
  ...{ tenant: "acme", id, hash: hashFor(id), expect, row },
  lease: "none",
  lane: undefined,
});

/** Numbers in no order, the same in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("two connections agree on what is there, through folds, removals, failures and restarts", () => {
  const path = join(newFolder(), "ledger.db");
  let engines = [engineAt(path), engineAt(path)];
  const trigger = new DatabaseSync(path);
  trigger.exec(`CREATE TRIGGER no BEFORE INSERT ON operation WHEN NEW.id LIKE 'bad%'
    BEGIN SELECT RAISE(ABORT, 'no'); END`);
  const pick = chance(20_261_116);
  /** The version of every operation that is there. */
  const model = new Map<string, number>();
  let refused = 0;
  let folds = 0;
  let folded = 0;
  const foldedTo = trigger.prepare("SELECT folded FROM ledger");
  for (let turn = 0; turn < 600; turn++) {
    const engine = engines[pick(2)];
    if (!engine) throw new Error("There are two.");
    const ids = new Set(Array.from({ length: 1 + pick(60) }, () => `op-${pick(9_000)}`));
    const hasBad = pick(10) === 0;
    const isRemoval = pick(8) === 0;
    const those = [...ids].map((id) =>
      isRemoval ? job(id, model.get(id) ?? 0, undefined) : job(id, 0, row),
    );
    if (hasBad) those.splice(pick(those.length), 0, job(`bad-${turn}`, 0, row));
    const committed = engine.commit(those, 0);
    if (committed.tag !== "done") throw new Error("Nobody else writes.");
    for (const [index, done] of committed.done.entries()) {
      const { id } = those[index] ?? {};
      if (!id || id.startsWith("bad")) {
        expect(done.ok).toBe(false);
        continue;
      }
      const swapped = done.ok ? (done.value as SwapDone) : undefined;
      const isFree = isRemoval || !model.has(id);
      if (swapped?.ok !== isFree) throw new Error(`turn ${turn}: ${id} should be ${isFree}`);
      if (!isFree) refused += 1;
      else if (isRemoval) model.delete(id);
      else if (swapped.ok) model.set(id, swapped.version);
    }
    const asked = `op-${pick(9_000)}`;
    for (const each of engines) {
      const found = each.read({ tenant: "acme", id: asked, hash: hashFor(asked) });
      expect([asked, found?.version]).toEqual([asked, model.get(asked)]);
    }
    const now = Number(foldedTo.get()?.folded);
    if (now !== folded) folds += 1;
    folded = now;
    if (pick(100) === 0) {
      for (const each of engines) each.close();
      engines = [engineAt(path), engineAt(path)];
    }
  }
  trigger.close();
  for (const each of engines) each.close();
  expect(folds).toBeGreaterThan(2);
  expect(refused).toBeGreaterThan(1_000);
  expect(model.size).toBeGreaterThan(3_000);
});

test("a commit that fails leaves nothing behind that hides what others append", () => {
  const path = join(newFolder(), "ledger.db");
  const connected = connect(path, "process", undefined);
  if (connected.tag !== "connected") throw new Error(`It is ${connected.tag}.`);
  const { db } = connected.connection;
  // Checked when the transaction is committed, and not before.
  db.exec(`PRAGMA foreign_keys = ON;
    CREATE TABLE parent (name TEXT PRIMARY KEY);
    CREATE TABLE child (name TEXT REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER orphan AFTER INSERT ON operation WHEN NEW.id = 'bad'
      BEGIN INSERT INTO child VALUES (NEW.id); END`);
  const engine = engineOn(connected.connection, false);
  const other = engineAt(path);
  engine.commit([job("first", 0, row)], 0);
  const failed = engine.commit([job("a", 0, row), job("bad", 0, row), job("b", 0, row)], 0);
  expect(failed.tag === "done" && failed.done.map(({ ok }) => ok)).toEqual([false, false, false]);
  // Somebody else gets the sequences that were not used.
  other.commit([job("x", 0, row), job("y", 0, row), job("z", 0, row)], 0);
  const claims = engine.commit([job("x", 0, row), job("y", 0, row), job("z", 0, row)], 0);
  const won =
    claims.tag === "done" && claims.done.map((done) => done.ok && (done.value as SwapDone).ok);
  expect(won).toEqual([false, false, false]);
  engine.close();
  other.close();
});

test("after an older ledger was put back, a living process finds what others have claimed since", async () => {
  for (const claims of [5, 6]) {
    const folder = newFolder();
    const path = join(folder, "ledger.db");
    const living = engineAt(path);
    const claim = (engine: Engine, id: string): boolean => {
      const committed = engine.commit([job(id, 0, row)], 0);
      const done = committed.tag === "done" ? committed.done[0] : undefined;
      if (!done?.ok) throw new Error("Nobody else writes.");
      return (done.value as SwapDone).ok;
    };
    for (let n = 0; n < 5; n++) claim(living, `kept-${n}`);
    const source = new DatabaseSync(path);
    await backup(source, join(folder, "copy.db"));
    source.close();
    for (let n = 0; n < 5; n++) claim(living, `lost-${n}`);
    const copy = new DatabaseSync(join(folder, "copy.db"));
    await backup(copy, path);
    copy.close();
    // As far as the living one had come, or further: by its sequence nothing is amiss.
    const other = engineAt(path);
    for (let n = 0; n < claims; n++) expect(claim(other, `new-${n}`)).toBe(true);
    for (let n = 0; n < claims; n++) expect([n, claim(living, `new-${n}`)]).toEqual([n, false]);
    living.close();
    other.close();
  }
});

test("a removal that is rolled back in its batch leaves the operation where it was", () => {
  const path = join(newFolder(), "ledger.db");
  const engine = engineAt(path);
  engine.commit([job("a", 0, row)], 0);
  const trigger = new DatabaseSync(path);
  trigger.exec(`CREATE TRIGGER no AFTER DELETE ON operation BEGIN SELECT RAISE(ABORT, 'no'); END`);
  trigger.close();
  const committed = engine.commit([job("a", 1, undefined), job("a", 0, row)], 0);
  const done = committed.tag === "done" ? committed.done : [];
  expect(done.map((each) => each.ok && (each.value as SwapDone).ok)).toEqual([false, false]);
  expect(engine.scan({ tenant: "acme" }, 0, 10).rows).toHaveLength(1);
  engine.close();
});
