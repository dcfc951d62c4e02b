/**
 * The packed package where people run it: under `--permission`, in worker threads, under vitest with faked timers, and on
 * disks that cannot be written to or are not kept.
 *
 * @module
 */

import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Ran, tryProgram } from "./run-program.ts";

/** One call, made twice, on the default ledger. Prints how often it was sent, or the error. */
const PAY = `
  import { createHoldfire } from "holdfire";
  const hf = createHoldfire({ app: "surroundings" });
  let sent = 0;
  const pay = hf.tool({ name: "pay", kind: "write", run: async () => (sent += 1) });
  try {
    const both = [await pay({}, { scope: "s" }), await pay({}, { scope: "s" })];
    console.log(JSON.stringify({ both, sent }));
  } catch (error) {
    console.log(error.message);
  }
  await hf.close();
`;
const PAID = '{"both":[1,1],"sent":1}\n';

/** Eight threads make the same call at the same time, on one ledger. */
const THREADS = `
  import { mkdtempSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
  import { createHoldfire } from "holdfire";
  import { sqliteStore } from "holdfire/sqlite";
  if (isMainThread) {
    const counter = new Int32Array(new SharedArrayBuffer(4));
    const path = join(mkdtempSync(join(tmpdir(), "holdfire-threads-")), "ledger.db");
    const answers = await Promise.all(Array.from({ length: 8 }, () => new Promise((resolve, reject) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { counter, path } });
      worker.once("message", resolve).once("error", reject);
    })));
    console.log(JSON.stringify({ answers: [...new Set(answers)], sent: counter[0] }));
  } else {
    const { counter, path } = workerData;
    const hf = createHoldfire({ app: "threads", store: sqliteStore({ path }) });
    const run = async () => Atomics.add(counter, 0, 1) + 1;
    const answer = await hf.tool({ name: "pay", kind: "write", run })({}, { scope: "s" });
    await hf.close();
    parentPort.postMessage(answer);
  }
`;

const FAKED = `
  import { mkdtempSync } from "node:fs";
  import { tmpdir } from "node:os";
  import { join } from "node:path";
  import { createHoldfire } from "holdfire";
  import { sqliteStore } from "holdfire/sqlite";
  import { afterEach, expect, test, vi } from "vitest";
  const newStore = () => sqliteStore({ path: join(mkdtempSync(join(tmpdir(), "holdfire-faked-")), "l.db") });
  afterEach(() => vi.useRealTimers());
  test("timers that are faked before the store is made", async () => {
    vi.useFakeTimers();
    const hf = createHoldfire({ store: newStore() });
    const pay = hf.tool({ name: "pay", kind: "write", run: async () => 1 });
    expect(await pay({}, { scope: "s" })).toBe(1);
    expect((await hf.operations.list()).items).toHaveLength(1);
    await hf.close();
  });
  test("timers that are faked for a while", async () => {
    const hf = createHoldfire({ store: newStore() });
    const pay = hf.tool({ name: "pay", kind: "write", run: async () => 1 });
    expect(await pay({}, { scope: "a" })).toBe(1);
    vi.useFakeTimers({ now: 0 });
    expect(await pay({}, { scope: "b" })).toBe(1);
    vi.useRealTimers();
    expect(await pay({}, { scope: "c" })).toBe(1);
    await hf.close();
  });
  test("the pause before another try is in the hands of the test", async () => {
    vi.useFakeTimers();
    const hf = createHoldfire({ app: "faked", store: newStore() });
    // Opened first: a disk takes real time for that, of which the faked clock knows nothing.
    await hf.operations.list();
    let tries = 0;
    const pay = hf.tool({
      name: "pay", kind: "write", keyed: { forMs: 3_600_000 },
      run: async (_, { key }) => {
        tries += 1;
        if (tries === 1) throw new Error("lost: " + key);
        return tries;
      },
    });
    let isOver = false;
    const call = pay({}, { scope: "s", deadlineMs: 3_600_000 }).finally(() => { isOver = true; });
    while (!isOver) await vi.advanceTimersByTimeAsync(100);
    expect(await call).toBe(2);
    await hf.close();
  });
`;

/** As a user that may not write to what root owns. */
const AS_NOBODY = `
  if (process.getuid() === 0) {
    process.setgid(65_534);
    process.setuid(65_534);
  }
`;

export function testSurroundings(installed: () => string): void {
  let place: string;
  let count = 0;

  beforeAll(() => {
    place = mkdtempSync(join(tmpdir(), "holdfire-surroundings-"));
    chmodSync(place, 0o755);
  });
  afterAll(() => rmSync(place, { recursive: true, force: true }));

  /** A project of its own, with a program and the package. */
  function projectWith(name: string, text: string): string {
    count += 1;
    const folder = join(place, String(count));
    mkdirSync(join(folder, "node_modules"), { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, name), text);
    for (const dependency of ["holdfire", "p-retry", "is-network-error", "uuid"]) {
      const from = join(installed(), "node_modules", dependency);
      cpSync(from, join(folder, "node_modules", dependency), { recursive: true });
    }
    return folder;
  }

  describe("under --permission", () => {
    const permitted = (folder: string, ...flags: readonly string[]): Ran => {
      return tryProgram("node", ["--no-warnings", "--permission", ...flags, "pay.mjs"], folder);
    };

    test("it runs with what the docs say: the project to read, the ledger's folder to write", () => {
      const folder = projectWith("pay.mjs", PAY);
      const flags = [`--allow-fs-read=${folder}`, `--allow-fs-write=${folder}/.holdfire/*`];
      expect(permitted(folder, ...flags).out).toBe(PAID);
    });

    test("an error names the folder that it needs", () => {
      const folder = projectWith("pay.mjs", PAY);
      const ledger = join(folder, ".holdfire");
      const { out } = permitted(folder, `--allow-fs-read=${folder}`);
      expect(out).toContain(`"${join(ledger, "ledger.db")}" is kept from this process`);
      expect(out).toContain(`--allow-fs-read="${ledger}/*" and --allow-fs-write="${ledger}/*"`);
    });

    test("a package.json that may not be read is not taken for one that is not there", () => {
      const folder = projectWith("pay.mjs", PAY);
      const src = join(folder, "src");
      mkdirSync(src);
      writeFileSync(join(src, "pay.mjs"), PAY);
      const flags = [`--allow-fs-read=${src}`, `--allow-fs-read=${folder}/node_modules`];
      const own = ["--no-warnings", "--permission", ...flags, "src/pay.mjs"];
      const { out } = tryProgram("node", own, folder);
      expect(out).toContain(`--allow-fs-read="${join(folder, "package.json")}"`);
    });
  });

  test("eight worker threads that make the same call at once send it once", () => {
    const folder = projectWith("threads.mjs", THREADS);
    const { out, err } = tryProgram("node", ["--no-warnings", "threads.mjs"], folder);
    expect(out, err).toBe('{"answers":[1],"sent":1}\n');
  });

  test("vitest with faked timers: a call on SQLite does not wait for a timer that never comes", () => {
    const folder = projectWith("faked.test.mjs", FAKED);
    symlinkSync(resolve("node_modules/vitest"), join(folder, "node_modules", "vitest"));
    const vitest = join(folder, "node_modules", "vitest", "vitest.mjs");
    const { out, err } = tryProgram("node", [vitest, "run", "--root", folder], folder);
    expect(out + err).toMatch(/Tests +3 passed/);
  });

  test.skipIf(process.platform === "win32")(
    "a disk that cannot be written to: the path is said",
    () => {
      const folder = projectWith("pay.mjs", AS_NOBODY + PAY);
      chmodSync(folder, 0o555);
      const { out } = tryProgram("node", ["--no-warnings", "pay.mjs"], folder);
      expect(out).toContain(`"${join(folder, ".holdfire", "ledger.db")}" cannot be made (EACCES)`);
      expect(out).toContain("Set HOLDFIRE_STORE");
    },
  );

  test("a host that does not keep its disk: the host and the path are said", () => {
    const folder = projectWith("pay.mjs", `process.env.VERCEL = "1";\n${PAY}`);
    const { out } = tryProgram("node", ["--no-warnings", "pay.mjs"], folder);
    expect(out).toContain(`Vercel does not keep its disk`);
    expect(out).toContain(join(folder, ".holdfire", "ledger.db"));
  });
}
