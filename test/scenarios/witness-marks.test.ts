/** The witness notices a ledger that went back, however many processes have used it. */
import { fork } from "node:child_process";
import { cpSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { memoryWitness, type Witness } from "../../src/ledger/witness/witness.ts";
import { fileWitness } from "../../src/ledger/witness/witness-file.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const newFolder = temporaryFolder();

/** A process that pays once and ends. */
async function payOnce(path: string, folder: string, to: string) {
  const hf = createHoldfire({ store: sqliteStore({ path }), witness: fileWitness({ folder }) });
  const suspicions: string[] = [];
  hf.on("store", (event) => {
    if (event.status === "suspect") suspicions.push(event.why);
  });
  const pay = hf.tool({ name: "pay", kind: "write", run: async (_: { to: string }) => "paid" });
  const outcome = await pay.outcome({ to }, { scope: "payroll" });
  await hf.close();
  return { outcome, suspicions };
}

const PROCESSES = 5_000;

test("after 5,000 processes the loss of what the last one did is noticed", {
  timeout: 120_000,
}, async () => {
  const folder = newFolder();
  const path = join(newFolder(), "ledger", "ledger.db");
  await payOnce(path, folder, "ana");
  const copy = `${dirname(path)}-copy`;
  cpSync(dirname(path), copy, { recursive: true });
  const store = sqliteStore({ path });
  const { id, sequence } = await store.open();
  await store.close();
  // They found everything done already.
  for (let index = 0; index < PROCESSES; index += 1) {
    const witness = fileWitness({ folder });
    const seen = await witness.read(id);
    witness.note({ id, sequence, since: seen?.since ?? 0 });
    witness.close();
  }
  await payOnce(path, folder, "ben");

  rmSync(dirname(path), { recursive: true });
  cpSync(copy, dirname(path), { recursive: true });
  const { outcome, suspicions } = await payOnce(path, folder, "ben");
  expect(suspicions).toHaveLength(1);
  expect(outcome).toMatchObject({ status: "unknown", reason: "store_lost" });
});

test("each process that opens leaves one mark, whatever came before it", async () => {
  const folder = newFolder();
  for (let sequence = 1; sequence <= 500; sequence += 1) {
    const witness = fileWitness({ folder });
    expect((await witness.read("a"))?.sequence ?? 0).toBe(sequence - 1);
    witness.note({ id: "a", sequence, since: 0 });
    witness.close();
  }
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  expect(files.filter((entry) => entry.isFile() && entry.name.endsWith(".mark"))).toHaveLength(1);
});

test("processes that raise the mark at once never lower it", { timeout: 60_000 }, async () => {
  const folder = newFolder();
  const [racers, end] = [4, 8_000];
  let running = racers;
  for (let first = 1; first <= racers; first += 1) {
    const args = [folder, first, racers, end].map(String);
    fork(resolve("test/scenarios/mark-raiser.ts"), args).once("exit", (code) => {
      expect(code).toBe(0);
      running -= 1;
    });
  }
  const seen = [0];
  while (running > 0) {
    const mark = await fileWitness({ folder }).read("a");
    const sequence = mark?.sequence ?? 0;
    expect(sequence).toBeGreaterThanOrEqual(seen.at(-1) ?? 0);
    seen.push(sequence);
  }
  expect(new Set(seen).size).toBeGreaterThan(1);
  expect(await fileWitness({ folder }).read("a")).toMatchObject({ sequence: end });
});

/** A tool of which a second effect would never be noticed, on a store that others write to as well. */
function openBlindTool(path: string, witness: Witness) {
  const store = sqliteStore({ path });
  const hf = createHoldfire({ store, witness });
  const paid: string[] = [];
  const run = async ({ to }: { readonly to: string }) => {
    paid.push(to);
    return "paid";
  };
  const pay = hf.tool({ name: "pay", kind: "write", run });
  const payAll = (names: readonly string[]) =>
    Promise.all(names.map((to) => pay.outcome({ to }, { scope: "payroll" })));
  return { hf, store, paid, payAll };
}

test("the witness is told once of all moves that are committed together", async () => {
  const noted = new Set<number>();
  const inner = memoryWitness();
  const witness: Witness = {
    ...inner,
    note(mark) {
      noted.add(mark.sequence);
      inner.note(mark);
    },
  };
  const { hf, payAll } = openBlindTool(join(newFolder(), "ledger.db"), witness);
  await payAll(["first"]);
  noted.clear();
  const names = Array.from({ length: 100 }, (_, index) => `person ${index}`);
  const outcomes = await payAll(names);
  expect(outcomes.every(({ status }) => status === "committed")).toBe(true);
  expect(Math.max(...noted)).toBe(202);
  expect(noted.size).toBeLessThanOrEqual(20);
  await hf.close();
});

test("all claims that are committed together hear what another process has found", async () => {
  const [folder, path] = [newFolder(), join(newFolder(), "ledger.db")];
  const { hf, paid, payAll } = openBlindTool(path, fileWitness({ folder }));
  await payAll(["ana"]);

  const other = openBlindTool(path, memoryWitness());
  await other.payAll(["ben"]);
  const { id } = await other.store.open();
  fileWitness({ folder }).note({ id, sequence: 1, since: 0, suspect: "it went back" });
  await other.hf.close();

  const outcomes = await payAll(["carl", "dora", "emil"]);
  expect(outcomes.map(({ status }) => status)).toEqual(["unknown", "unknown", "unknown"]);
  expect(paid).toEqual(["ana"]);
  await hf.close();
});
