/** The command `holdfire console`: what it prints, whom it lets in, and how it ends. */
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { pageTo } from "../../src/cli/console/open-browser.ts";
import { runCommandLine } from "../../src/cli/run.ts";
import { ledgerWorld } from "../cli/ledger-world.ts";
import { testTerminal } from "../cli/test-terminal.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfire-console-"));
const world = ledgerWorld(folder);
beforeAll(() => world.fill());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The command until `work` is done, and its exit code. */
async function running(
  argv: readonly string[],
  work: (printed: { readonly url: string; readonly by: string }) => Promise<void>,
): Promise<number> {
  const stop = new AbortController();
  let print = (_: string): void => {};
  const printed = new Promise<string>((resolve) => {
    print = resolve;
  });
  const terminal = {
    ...testTerminal({ cwd: folder, signal: stop.signal }),
    out: (line: string) => print(line),
  };
  const all = ["console", "--json", "--no-open", "--store", world.path, ...argv];
  const ended = runCommandLine(all, COMMANDS, terminal);
  try {
    await work(JSON.parse(await printed));
  } finally {
    stop.abort();
  }
  return ended;
}

/** The status of a request under any host name, which `fetch` would not send. */
const statusUnder = (host: string, port: string, token: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${token}` };
    const asked = request({ host: "127.0.0.1", port, path: "/api/inbox", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on("error", reject).end();
  });

test("serves the ledger to whoever has the token, under its own names, read-only, until it is stopped", async () => {
  let address = "";
  const exitCode = await running(["--by", "ana"], async ({ url, by }) => {
    expect(by).toBe("ana");
    const { origin, port, hash } = new URL(url);
    address = origin;
    const token = hash.slice("#token=".length);
    expect(token.length).toBeGreaterThanOrEqual(32);
    const authorization = `Bearer ${token}`;
    expect((await fetch(`${origin}/api/inbox`)).status).toBe(401);
    const inbox = await fetch(`${origin}/api/inbox`, { headers: { authorization } });
    const { questions } = (await inbox.json()) as {
      questions: { digest: string; operation: { id: string } }[];
    };
    expect(questions).toHaveLength(1);
    expect(await statusUnder(`127.0.0.1:${port}`, port, token)).toBe(200);
    expect(await statusUnder(`localhost:${port}`, port, token)).toBe(200);
    expect(await statusUnder(`evil.example:${port}`, port, token)).toBe(421);
    expect(await statusUnder("127.0.0.1", port, token)).toBe(421);
    const answer = await fetch(`${origin}/api/operations/${questions[0]?.operation.id}/approve`, {
      method: "POST",
      headers: {
        ...{ authorization, origin, "content-type": "application/json" },
        "x-holdfire-console": "1",
      },
      body: JSON.stringify({ digest: questions[0]?.digest }),
    });
    expect(answer.status).toBe(403);
  });
  expect(exitCode).toBe(0);
  await expect(fetch(`${address}/`)).rejects.toThrow();
});

test("with --decide it takes answers, under the name of --by", async () => {
  await running(["--decide", "--by", "bea"], async ({ url }) => {
    const { origin, hash } = new URL(url);
    const authorization = `Bearer ${hash.slice("#token=".length)}`;
    const inbox = await fetch(`${origin}/api/inbox`, { headers: { authorization } });
    const { questions } = (await inbox.json()) as {
      questions: { digest: string; operation: { id: string } }[];
    };
    const path = `${origin}/api/operations/${questions[0]?.operation.id}/deny`;
    const headers = {
      ...{ authorization, origin, "content-type": "application/json" },
      "x-holdfire-console": "1",
    };
    const body = JSON.stringify({ digest: questions[0]?.digest, note: "not now" });
    expect((await fetch(path, { method: "POST", headers, body })).status).toBe(200);
  });
  const { out } = await world.run(["ls", "--status", "denied", "--json"]);
  expect(JSON.parse(out).items).toMatchObject([{ by: "bea", note: "not now" }]);
});

test("wrong usage says what would be right", async () => {
  const both = await world.run(["console", "--config", "holdfire.config.ts"]);
  expect(both.exitCode).toBe(2);
  expect(both.err).toContain("Give either --store or --config.");
  expect((await world.run(["console", "--port", "99999"])).exitCode).toBe(2);
  await running([], async ({ url }) => {
    const taken = await world.run(["console", "--no-open", "--port", new URL(url).port]);
    expect(taken.exitCode).toBe(1);
    expect(taken.err).toContain("Choose another with --port");
  });
});

test.skipIf(process.platform === "win32")(
  "the browser is given a file that only this user can read, not the address with the token",
  () => {
    const page = pageTo('http://127.0.0.1:1/#token=a"b', folder);
    expect(statSync(page).mode & 0o777).toBe(0o600);
    expect(readFileSync(page, "utf8")).toContain('url=http://127.0.0.1:1/#token=a%22b">');
  },
);
