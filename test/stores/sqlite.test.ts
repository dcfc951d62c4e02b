import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { sqliteStore } from "../../src/stores/sqlite.ts";
import { storeContract } from "../../src/testing/store-contract.ts";

const root = mkdtempSync(join(tmpdir(), "holdfire-sqlite-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let folders = 0;
let path = "";
const fresh = (): string => {
  folders += 1;
  path = join(root, `${folders}`, "ledger.db");
  return path;
};

storeContract("sqlite", {
  open: ({ now }) => sqliteStore({ path: fresh(), now }),
  reopen: ({ now }) => sqliteStore({ path, now }),
});

storeContract("sqlite, on the host's clock, without a sync", {
  open: () => sqliteStore({ path: fresh(), durability: "process" }),
  reopen: () => sqliteStore({ path, durability: "process" }),
  clock: "server",
});

storeContract("sqlite, in a worker", {
  open: ({ now }) => sqliteStore({ path: fresh(), now, worker: true }),
  reopen: ({ now }) => sqliteStore({ path, now, worker: true }),
});
