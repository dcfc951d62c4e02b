import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { remoteBackend } from "../../src/stores/sqlite/remote.ts";
import { sqliteStore } from "../../src/stores/sqlite.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create } from "../../src/testing/store-contract/subject.ts";
import { storeContract } from "../../src/testing/store-contract.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
let path = "";
const newPath = (): string => {
  path = join(newFolder(), "ledger.db");
  return path;
};

storeContract("sqlite, in a worker", {
  open: ({ now }) => sqliteStore({ path: newPath(), now, worker: true }),
  reopen: ({ now }) => sqliteStore({ path, now, worker: true }),
});

describe("the sqlite store in a worker", () => {
  test("refuses a bad path like the other", async () => {
    const store = sqliteStore({ path: newFolder(), worker: true });
    await expect(store.open()).rejects.toMatchObject({
      code: "ERR_HOLDFIRE_INVALID_INPUT",
      path: "sqlite.path",
    });
    await store.close();
  });

  test("shares a file with one on the main thread", async () => {
    const near = sqliteStore({ path: newPath() });
    const far = sqliteStore({ path, worker: true });
    const ids = Array.from({ length: 50 }, (_, index) => `operation-${index}`);
    const swaps = await Promise.all(
      ids.flatMap((id) => [near, far].map((store) => store.swap(create(recordOf({ id }))))),
    );
    expect(swaps.filter(({ ok }) => ok)).toHaveLength(ids.length);
    expect((await far.list({ tenant: "acme" })).items).toHaveLength(ids.length);
    await near.close();
    await far.close();
  });

  test("does not keep an idle process alive", () => {
    const entry = new URL("../../src/stores/sqlite.ts", import.meta.url).href;
    const code = `
      const { sqliteStore } = await import(${JSON.stringify(entry)});
      const store = sqliteStore({ path: ${JSON.stringify(newPath())}, worker: true });
      console.log((await store.open()).sequence);`;
    const args = ["--input-type=module", "--eval", code];
    const cwd = fileURLToPath(new URL("../..", import.meta.url));
    const { status, stdout } = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: "0\n" });
  });
});

describe("the near end of a worker", () => {
  test("carries an error over", async () => {
    const path = newFolder();
    const backend = remoteBackend({ path, durability: "full", hostClock: true }, () => {});
    expect(await backend.open()).toMatchObject({ tag: "refused" });
    await expect(backend.call("sequence")).rejects.toThrow(/not open/);
    await backend.close();
  });

  test("answers with an error when the worker dies, and can start another", async () => {
    const workers: Worker[] = [];
    let lost = 0;
    const backend = remoteBackend(
      { path: newPath(), durability: "process", hostClock: false },
      () => {
        lost += 1;
      },
      (workerData) => {
        const file = new URL("../../src/stores/sqlite/worker.ts", import.meta.url);
        const worker = new Worker(file, { workerData });
        workers.push(worker);
        return worker;
      },
    );
    await expect(backend.call("sequence")).rejects.toThrow(/has ended/);
    await backend.open();
    const asked = backend.call("sequence").catch((error: unknown) => error);
    const ended = workers[0]?.terminate();
    expect(await asked).toSatisfy((answer) => answer === 0 || answer instanceof Error);
    await ended;
    expect(lost).toBe(1);
    await expect(backend.call("sequence")).rejects.toThrow(/has ended/);
    expect(await backend.open()).toMatchObject({ tag: "opened" });
    expect(await backend.call("sequence")).toBe(0);
    await backend.close();
    await backend.close();
    expect(workers).toHaveLength(2);
    expect(lost).toBe(1);
  });
});
