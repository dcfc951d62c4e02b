/** A ledger is known by its own id: an older copy is noticed under another host, port or path as well. */
import { cpSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import type { Store } from "../../src/ledger/store.ts";
import type { Witness } from "../../src/ledger/witness/witness.ts";
import { fileWitness } from "../../src/store.ts";
import { defaultWitness } from "../../src/stores/default.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { LOSSES } from "../crash/losses.ts";
import { openPlace } from "../processes/place.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const newFolder = temporaryFolder();

/** A process that pays and ends. */
async function pay(store: Store, witness: Witness, to: string) {
  const hf = createHoldfire({ store, witness });
  const suspicions: string[] = [];
  hf.on("store", (event) => {
    if (event.status === "suspect") suspicions.push(event.why);
  });
  const tool = hf.tool({ name: "pay", kind: "write", run: async (_: { to: string }) => "paid" });
  const { status } = await tool.outcome({ to }, { scope: "payroll" });
  await hf.close();
  return { status, suspicions };
}

const OLDER = [expect.stringMatching(/older than the one seen before/)];

test("two hosts share a folder: an older copy on the second is noticed", async () => {
  const folder = newFolder();
  const [first, second] = [newFolder(), newFolder()].map((host) => join(host, "db", "ledger.db"));
  const payAt = (path = "", to: string) =>
    pay(sqliteStore({ path }), fileWitness({ folder, name: path }), to);
  expect((await payAt(first, "ana")).status).toBe("committed");
  cpSync(dirname(first ?? ""), dirname(second ?? ""), { recursive: true });
  expect((await payAt(first, "ben")).status).toBe("committed");
  expect(await payAt(second, "ben")).toEqual({ status: "unknown", suspicions: OLDER });
  // Also once it is further than the first ever was, and also on the first.
  for (const to of ["cy", "di", "eve"]) await payAt(second, to);
  expect(await payAt(second, "ben")).toMatchObject({ status: "unknown", suspicions: OLDER });
  expect(await payAt(first, "fay")).toMatchObject({ status: "unknown", suspicions: OLDER });
});

test("an equal copy on the second is trusted, and so is a ledger that was never seen", async () => {
  const folder = newFolder();
  const paths = [newFolder(), newFolder(), newFolder()].map((host) => join(host, "db/ledger.db"));
  const [first = "", second = "", third = ""] = paths;
  const payAt = (path: string) =>
    pay(sqliteStore({ path }), fileWitness({ folder, name: path }), "ana");
  await payAt(first);
  cpSync(dirname(first), dirname(second), { recursive: true });
  expect(await payAt(second)).toEqual({ status: "committed", suspicions: [] });
  expect(await payAt(third)).toEqual({ status: "committed", suspicions: [] });
});

test("another ledger under the name of the first is noticed, wherever it is", async () => {
  const folder = newFolder();
  const payAt = (path: string) =>
    pay(sqliteStore({ path }), fileWitness({ folder, name: "payroll" }), "ana");
  await payAt(join(newFolder(), "db", "ledger.db"));
  expect(await payAt(join(newFolder(), "db", "ledger.db"))).toEqual({
    status: "unknown",
    suspicions: [expect.stringMatching(/not the one seen before/)],
  });
});

test("the default witness notices a promoted replica under another port", async ({ skip }) => {
  const loss = LOSSES.find(({ says }) => says === "a Redis replica that lagged is promoted");
  const ledger = await loss?.start();
  if (!ledger) return skip();
  onTestFinished(() => ledger.stop());
  const folder = newFolder();
  const env = { HOLDFIRE_STORE: join(folder, "ledger.db") };
  const payThere = async (to: string) => {
    const { store, end } = await openPlace(ledger.place());
    const paid = await pay(store, defaultWitness(store, env, { cwd: folder }), to);
    await end();
    return { ...paid, address: store.address };
  };
  const before = await payThere("ana");
  await ledger.remember();
  await payThere("ben");
  await ledger.lose();
  const after = await payThere("ben");
  expect(after.address).not.toBe(before.address);
  expect(after).toMatchObject({ status: "unknown", suspicions: OLDER });
});
