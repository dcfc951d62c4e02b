import { readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Line, type Tally, tallyOf } from "../../src/cli/doctor/live/tally.ts";
import { type CountingServer, startCounting } from "../servers/counting-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { start } from "./start.ts";

const newFolder = temporaryFolder();
const from = (path: string): string => JSON.stringify(pathToFileURL(resolve(path)).href);

let server: CountingServer;
beforeEach(async () => {
  server = await startCounting((response) => {
    response.writeHead(503, { "retry-after-ms": "5" }).end("{}");
  });
});
afterEach(() => server.close());

/** Runs a program under the doctor; the program's own words go to stdout, or with --json to stderr. */
async function live(program: string, ...options: string[]) {
  const folder = newFolder();
  writeFileSync(join(folder, "agent.mjs"), program);
  const argv = ["doctor", "--live", ...options, "--", process.execPath, "agent.mjs"];
  return start(argv, folder);
}

const OPENAI = (url: string) => `
  import OpenAI from ${from("node_modules/openai/index.mjs")};
  const client = new OpenAI({ apiKey: "sk-secret", baseURL: "${url}/v1" });
  await client.responses
    .create({ model: "m", input: "a private prompt" }, { query: { token: "hush" } })
    .catch((error) => console.log("status", error.status));
  process.exitCode = 7;
`;

test("one call of openai is three requests, and the program's exit code is passed on", async () => {
  const { exitCode, out, err } = await live(OPENAI(server.url), "--json");
  expect(server.arrivals).toHaveLength(3);
  expect(exitCode).toBe(7);
  expect(err).toContain("status 503");
  const tally: Tally = JSON.parse(out);
  expect(tally).toEqual({
    ...{ exitCode: 7, processes: 1, operations: [], cut: false },
    outside: [
      {
        ...{ method: "POST", origin: server.url, path: "/v1/responses" },
        ...{ requests: 3, failed: 3, again: 2 },
      },
    ],
  });
  for (const secret of ["hush", "sk-secret", "private"]) expect(out).not.toContain(secret);
});

test("without --json the program's stdout is its own, and the table stands on stderr", async () => {
  const { out, err } = await live(OPENAI(server.url));
  expect(out).toBe("status 503\n");
  expect(err).toMatch(/^ +3 +3 +2 {2}POST http:\/\/127\.0\.0\.1:\d+\/v1\/responses$/m);
  expect(err).not.toContain("hush");
});

test("inside holdfire: requests by operation, hidden ones told apart", async () => {
  const program = `
    import { createHoldfire } from ${from("src/index.ts")};
    import { memoryStore } from ${from("src/stores/memory.ts")};
    const hf = createHoldfire({ store: memoryStore() });
    const send = () => fetch("${server.url}/pay?to=hush", { method: "POST", body: "secret" });
    const once = hf.tool({ name: "once", kind: "write", keyed: { forMs: 1e6 }, run: (_, { key }) => key && send() });
    const loop = hf.tool({
      name: "loop",
      kind: "write",
      attempts: 1,
      keyed: { forMs: 1e6 },
      run: async (_, { key }) => key && (await send(), await send(), await send()),
    });
    await once({ a: 1 }, { scope: "s" }).catch(() => {});
    await loop({ a: 1 }, { scope: "s" }).catch(() => {});
    await hf.close();
    // Over node:http, too.
    const { request } = await import("node:http");
    await new Promise((done) => request("${server.url}/seen").on("response", (r) => r.resume().on("end", done)).end());
  `;
  const { exitCode, out } = await live(program, "--json");
  expect(exitCode).toBe(0);
  expect(server.arrivals).toHaveLength(7);
  const { operations, outside }: Tally = JSON.parse(out);
  const first = `POST ${server.url}/pay`;
  const operation = expect.any(String);
  expect(operations).toEqual([
    { operation, attempts: 3, requests: 3, reads: 0, again: 0, first },
    { operation, attempts: 1, requests: 3, reads: 0, again: 2, first },
  ]);
  expect(outside).toMatchObject([{ method: "GET", path: "/seen", requests: 1, again: 0 }]);
});

test("what holdfire reads itself is neither outside nor an attempt", async () => {
  const program = `
    import { absent, createHoldfire } from ${from("src/index.ts")};
    import { sqliteStore } from ${from("src/stores/sqlite/index.ts")};
    const hf = createHoldfire({ store: sqliteStore({ path: "ledger.db" }) });
    const look = (path) => fetch("${server.url}" + path);
    const pay = hf.tool({
      name: "pay",
      kind: "write",
      attempts: 1,
      deadlineMs: 1_000,
      plan: async () => (await look("/plan"), { changes: [] }),
      run: (args) => fetch("${server.url}/pay", { method: "POST", body: "{}" }),
      readState: async () => (await look("/state"), absent()),
      effect: { id: () => "x", list: async () => (await look("/list"), []) },
    });
    await pay.plan({ a: 1 });
    await pay({ a: 1 }, { scope: "s" }).catch(() => {});
    await hf.driftReport();
    await hf.close();
  `;
  const { exitCode, out } = await live(program, "--json", "--strict");
  const { operations, outside }: Tally = JSON.parse(out);
  expect(outside).toEqual([]);
  expect(operations).toMatchObject([
    { operation: "pay", attempts: 0, requests: 0, reads: 2, first: `GET ${server.url}/plan` },
    { attempts: 1, requests: 1, again: 0, first: `POST ${server.url}/pay` },
  ]);
  expect(operations[1]?.reads).toBeGreaterThan(0);
  expect(exitCode).toBe(0);
});

test("--strict ends with 1 when a program that did well has retried", async () => {
  const fetchTwice = `for (const _ of [1, 2]) await fetch("${server.url}/x");`;
  expect((await live(fetchTwice, "--strict")).exitCode).toBe(1);
  expect((await live(fetchTwice)).exitCode).toBe(0);
  expect((await live(`await fetch("${server.url}/y");`, "--strict")).exitCode).toBe(0);
  expect((await live(OPENAI(server.url), "--strict")).exitCode).toBe(7);
});

test("a program that is killed has told what it did, and so have the ones it started", async () => {
  const program = `
    import { spawnSync } from "node:child_process";
    import { writeFileSync } from "node:fs";
    writeFileSync("child.mjs", 'await fetch("${server.url}/child");');
    spawnSync(process.execPath, ["child.mjs"]);
    await fetch("${server.url}/parent");
    process.kill(process.pid, "SIGKILL");
  `;
  const { exitCode, out } = await live(program, "--json");
  expect(exitCode).toBe(128 + 9);
  const { processes, outside }: Tally = JSON.parse(out);
  expect(processes).toBe(2);
  expect(outside.map(({ path }) => path).sort()).toEqual(["/child", "/parent"]);
});

test("a program without requests is told so, and nothing is left behind", async () => {
  const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith("holdfire-watched-"));
  const before = left();
  const { exitCode, err } = await live("console.log(1)");
  expect(exitCode).toBe(0);
  expect(err).toContain("no request was seen");
  expect(left().filter((name) => !before.includes(name))).toEqual([]);
});

test.each([
  [["doctor", "--live"], "--live needs a program"],
  [["doctor", "--", "node"], "only with --live"],
  [
    ["doctor", "--live", "--config", "x.ts", "--", "node"],
    "--live cannot be combined with --config.",
  ],
  [["doctor", "--live", "--", "no-such-program-here"], "cannot be run"],
])("%j is wrong use", async (argv, message) => {
  const { exitCode, err } = await start(argv, newFolder());
  expect(exitCode).toBe(2);
  expect(err).toContain(message);
});

test("an answered request that is asked again is no retry; two processes are none either", () => {
  const begin = (n: number, same = "a"): Line => ({
    ...{ tag: "begin", n, method: "GET", origin: "http://x", path: "/", same },
  });
  const again = (...lines: Line[]) => tallyOf([lines]).outside[0]?.again;
  expect(again(begin(1), { tag: "status", n: 1, status: 200 }, begin(2))).toBe(0);
  expect(again(begin(1), { tag: "status", n: 1, status: 404 }, begin(2))).toBe(0);
  expect(again(begin(1), { tag: "status", n: 1, status: 429 }, begin(2))).toBe(1);
  expect(again(begin(1), { tag: "error", n: 1 }, begin(2))).toBe(1);
  expect(again(begin(1), { tag: "error", n: 1 }, begin(2, "b"))).toBe(0);
  expect(again(begin(1), { tag: "error", n: 1 }, begin(2), begin(3))).toBe(1);
  expect(again(begin(1), { tag: "resend", n: 1 })).toBe(1);
  const failed: Line[] = [begin(1), { tag: "error", n: 1 }];
  expect(tallyOf([failed, failed]).outside).toMatchObject([{ requests: 2, failed: 2, again: 0 }]);
  expect(tallyOf([[{ tag: "cut" }]]).cut).toBe(true);
});
