import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { recordOf } from "../../src/testing/record-of.ts";
import { create, mustRead, mustSwap } from "../../src/testing/store-contract/subject.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const newFolder = temporaryFolder();
const newPath = (): string => join(newFolder(), "ledger.db");

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill();
});

/** Starts a process of this folder and waits for its first word. */
async function start(
  file: string,
  ...args: readonly string[]
): Promise<{ readonly child: ChildProcess; readonly word: unknown }> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = fork(path, args, { execArgv: [] });
  children.push(child);
  const [word] = await once(child, "message");
  return { child, word };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("a database that another process writes to", () => {
  test("is waited for while the event loop goes on", async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf({ id: "before" })));
    const { child: holder } = await start("sqlite-lock-holder.ts", path);

    let isDone = false;
    const swap = mustSwap(store, create(recordOf())).then((swapped) => {
      isDone = true;
      return swapped;
    });
    let turns = 0;
    for (; turns < 2_000; turns++) await turn();
    expect(turns).toBe(2_000);
    expect(isDone).toBe(false);
    // Who reads does not wait.
    expect((await mustRead(store, "acme", "before")).record.id).toBe("before");
    expect((await store.read("acme", "operation-1")).stored).toBeUndefined();
    // Nor does who repeats a claim.
    expect((await store.swap(create(recordOf({ id: "before" })))).ok).toBe(false);

    holder.send("let go");
    expect((await swap).ok).toBe(true);
    expect((await mustRead(store, "acme", "operation-1")).record).toEqual(recordOf());
    await store.close();
  });

  test("is opened while it is locked, and closed only when all is written", async () => {
    const path = newPath();
    const first = sqliteStore({ path });
    await first.open();
    await first.close();
    const { child: holder } = await start("sqlite-lock-holder.ts", path);
    const store = sqliteStore({ path });
    await store.open();
    const swap = store.swap(create(recordOf()));
    const closed = store.close();
    holder.send("let go");
    expect((await swap).ok).toBe(true);
    await closed;
    const after = sqliteStore({ path });
    await mustRead(after, "acme", "operation-1");
    await after.close();
  });
});

describe("several processes on one ledger", () => {
  test("make it at the same moment, and claim every key exactly once", async () => {
    const path = newPath();
    const names = ["a", "b", "c", "d"];
    const processes = await Promise.all(
      names.map((name) => start("sqlite-claimant.ts", path, name)),
    );
    const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`);
    const answers = processes.map(async ({ child }) => {
      const [won] = await once(child, "message");
      return won as string[];
    });
    for (const { child } of processes) child.send(keys);
    const won = await Promise.all(answers);
    expect(won.flat().sort()).toEqual(keys.toSorted());

    const store = sqliteStore({ path });
    for (const [index, name] of names.entries()) {
      for (const id of won[index] ?? []) {
        const { record } = await mustRead(store, "acme", id);
        expect(record.state).toEqual({ tag: "claimed", holder: name });
      }
    }
    expect((await store.open()).sequence).toBe(keys.length);
    await store.close();
  });

  test("twelve of them all make progress at the same time", async () => {
    const path = newPath();
    const names = Array.from({ length: 12 }, (_, index) => `process-${index}`);
    const processes = await Promise.all(
      names.map((name) => start("sqlite-claimant.ts", path, name)),
    );
    const answers = processes.map(async ({ child }) => {
      const [won] = await once(child, "message");
      return won as string[];
    });
    // Each has keys of its own, so each must win all of them.
    for (const [index, { child }] of processes.entries()) {
      child.send(Array.from({ length: 50 }, (_, key) => `${names[index]}-${key}`));
    }
    const won = await Promise.all(answers);
    expect(won.map((keys) => keys.length)).toEqual(names.map(() => 50));
  }, 60_000);

  test("a second store in this process, opened and closed, leaves the first one its locks", async () => {
    const path = newPath();
    const store = sqliteStore({ path });
    await mustSwap(store, create(recordOf()));
    const second = sqliteStore({ path });
    await second.open();
    await second.close();
    // Who could take the log away now would take the next writes with it.
    const { word } = await start("sqlite-log-thief.ts", path);
    expect(word).toBe("refused");
    await store.close();
  });
});
