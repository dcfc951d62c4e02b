/**
 * Hosts and servers that do not read, or do not stop, or write nonsense: the gateway, a process of its own, takes in no
 * more than it can hand on, ends in good order, and the ledger has every call that was made.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { createHoldfire } from "../../src/create.ts";
import { sqliteStore } from "../../src/stores/sqlite/index.ts";
import { isProof } from "../proof.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";

const newFolder = temporaryFolder();
const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const MIB = 1024 * 1024;
const LONG_MS = 120_000;
/** What a gateway may hold, with all of Node, whatever the other two do. */
const MOST_RSS_MIB = 400;

type Json = Record<string, unknown> & { id?: unknown; result?: Json; error?: { message: string } };

interface Pipe {
  readonly folder: string;
  readonly gateway: ChildProcessWithoutNullStreams;
  send(message: object): void;
  /** Begins to read; what has come so far is the first. */
  read(): { next(fits: (message: Json) => boolean): Promise<Json>; readonly lines: string[] };
  /** The most memory that the gateway has had. */
  peakMib(): number;
  readonly exited: Promise<number | null>;
  complained(): string;
  noted(file: string): string[];
}

function start(mode: string, { bytes = 0, options = [] as readonly string[] } = {}): Pipe {
  const folder = newFolder();
  const server = [process.execPath, at("hostile-server.ts"), folder, mode, String(bytes)];
  const mcp = [
    at("../../src/cli/main.ts"),
    "mcp",
    "--store",
    join(folder, "ledger.db"),
    ...options,
  ];
  const gateway = spawn(process.execPath, [...mcp, "--", ...server], { stdio: "pipe" });
  const exited = once(gateway, "exit").then(([code]) => code as number | null);
  onTestFinished(async () => {
    gateway.kill("SIGKILL");
    await exited;
  });
  let complained = "";
  gateway.stderr.on("data", (chunk) => {
    complained += chunk;
  });
  gateway.stdin.on("error", () => {});
  return {
    folder,
    gateway,
    exited,
    send: (message) =>
      void gateway.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`),
    read() {
      const lines: string[] = [];
      const waiting = new Set<(line: string) => void>();
      createInterface({ input: gateway.stdout }).on("line", (line) => {
        lines.push(line);
        for (const one of waiting) one(line);
      });
      const next = (fits: (message: Json) => boolean) =>
        new Promise<Json>((resolve) => {
          waiting.add(function hear(line) {
            let message: Json;
            try {
              message = JSON.parse(line);
            } catch {
              return;
            }
            if (message === null || !fits(message)) return;
            waiting.delete(hear);
            resolve(message);
          });
        });
      return { next, lines };
    },
    peakMib() {
      const status = readFileSync(`/proc/${gateway.pid}/status`, "utf8");
      return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
    },
    complained: () => complained,
    noted(file) {
      const path = join(folder, file);
      return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
    },
  };
}

/** Resolves with a number when it has not changed for a while. */
async function settled(read: () => number): Promise<number> {
  let same = 0;
  let last = -1;
  await expect
    .poll(
      () => {
        const now = read();
        same = now === last && now > 0 ? same + 1 : 0;
        last = now;
        return same;
      },
      { timeout: 60_000, interval: 200 },
    )
    .toBeGreaterThanOrEqual(5);
  return last;
}

async function ledgerOf({ folder }: Pipe): Promise<{ tool: string; status: string }[]> {
  const hf = createHoldfire({
    app: "holdfire-mcp",
    store: sqliteStore({ path: join(folder, "ledger.db") }),
  });
  onTestFinished(() => hf.close());
  const all: { tool: string; status: string }[] = [];
  let cursor: string | undefined;
  do {
    const page = await hf.operations.list({ cursor });
    all.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== undefined);
  return all;
}

const call = (id: unknown, text: string) => ({
  id,
  method: "tools/call",
  params: { name: "pay", arguments: { text } },
});

// Memory is seen from outside where Linux shows it; in the proof, since much is written.
describe.skipIf(!isProof || platform() !== "linux")("bounded memory", () => {
  test(
    "a server that floods a host that does not read is held up, and all of it arrives when the host reads",
    async () => {
      const bytes = 64 * MIB;
      const pipe = start("flood", { bytes });
      pipe.send({ id: 1, method: "flood" });
      const taken = await settled(() => Number(pipe.noted("noted")[0] ?? 0));
      // What the pipes hold, and a line or two.
      expect(taken).toBeLessThan(16 * MIB);
      const { next, lines } = pipe.read();
      await next(({ id }) => id === 1);
      const numbers = lines.slice(0, -1).map((line) => JSON.parse(line).params.n);
      expect(numbers).toEqual(numbers.map((_, n) => n));
      expect(numbers).toHaveLength(bytes / 65_536);
      expect(pipe.peakMib()).toBeLessThan(MOST_RSS_MIB);
      pipe.gateway.stdin.end();
      expect(await pipe.exited).toBe(0);
    },
    LONG_MS,
  );

  test(
    "a server that does not read holds up the host, and a signal ends all three",
    async () => {
      const pipe = start("deaf");
      const { next } = pipe.read();
      const listed = next(({ id }) => id === 1);
      pipe.send({ id: 1, method: "tools/list" });
      await listed;
      let written = 0;
      const params = { text: "x".repeat(65_536) };
      const line = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "echo", params });
      const fill = () =>
        pipe.gateway.stdin.write(`${line}\n`, (error) => {
          if (error) return;
          written += line.length;
          fill();
        });
      fill();
      expect(await settled(() => written)).toBeLessThan(16 * MIB);
      expect(pipe.peakMib()).toBeLessThan(MOST_RSS_MIB);
      pipe.gateway.kill("SIGTERM");
      expect(await pipe.exited).toBe(128 + 15);
    },
    LONG_MS,
  );

  test(
    "calls that are not answered are refused when they are too many, and the ledger has all the others",
    async () => {
      const pipe = start("deaf");
      const { next, lines } = pipe.read();
      const listed = next(({ id }) => id === 1);
      pipe.send({ id: 1, method: "tools/list" });
      await listed;
      const last = next(({ id }) => id === "call 1099");
      for (let n = 0; n < 1_100; n += 1) pipe.send(call(`call ${n}`, `${n} ${"x".repeat(10_000)}`));
      expect((await last).error?.message).toContain("Nothing was sent: too many requests");
      const refused = lines.filter((line) => line.includes("too many requests"));
      pipe.gateway.kill("SIGTERM");
      await pipe.exited;
      expect(pipe.peakMib).toThrow();
      const records = await ledgerOf(pipe);
      expect(records).toHaveLength(1_100 - refused.length);
      expect(new Set(records.map(({ status }) => status))).toEqual(new Set(["unknown"]));
    },
    LONG_MS,
  );

  test(
    "a host that calls and does not read: memory is bounded, and when it dies the ledger has every effect",
    async () => {
      const pipe = start("fair", { bytes: 100_000 });
      let written = 0;
      const fill = (n: number) => {
        const line = JSON.stringify({ jsonrpc: "2.0", ...call(n, `${n}`) });
        pipe.gateway.stdin.write(`${line}\n`, (error) => {
          if (error) return;
          written += 1;
          fill(n + 1);
        });
      };
      fill(0);
      await settled(() => pipe.noted("calls").length);
      await settled(() => written);
      expect(pipe.peakMib()).toBeLessThan(MOST_RSS_MIB);
      pipe.gateway.stdin.destroy();
      pipe.gateway.stdout.destroy();
      expect(await pipe.exited).toBe(0);
      const effects = pipe.noted("calls");
      expect(new Set(effects).size).toBe(effects.length);
      const committed = (await ledgerOf(pipe)).filter(({ status }) => status === "committed");
      expect(committed).toHaveLength(effects.length);
    },
    LONG_MS,
  );
});

test("lines that are no messages reach the host as they are, and answers with wrong ids answer nothing", async () => {
  const pipe = start("garbled");
  const { next, lines } = pipe.read();
  const answered = next(({ id }) => id === "host-1");
  pipe.send(call("host-1", "a"));
  expect((await answered).result).toMatchObject({ content: [{ text: "" }] });
  const pinged = next(({ id }) => id === 2);
  pipe.send({ id: 2, method: "ping" });
  await pinged;
  expect(lines.slice(0, 7)).toEqual([
    "Listening.",
    "",
    "{",
    "[]",
    "null",
    '{"jsonrpc":"2.0"}',
    '{"id":1}',
  ]);
  expect(lines.filter((line) => line.includes('"host-1"'))).toHaveLength(1);
  pipe.gateway.stdin.end();
  expect(await pipe.exited).toBe(0);
  expect(await ledgerOf(pipe)).toMatchObject([{ status: "committed" }]);
  expect(pipe.noted("calls")).toHaveLength(1);
});

test("a huge message that is allowed goes both ways, and one that is not is refused", async () => {
  const size = 8 * MIB;
  const pipe = start("fair", { bytes: size, options: ["--max-message", String(9 * MIB)] });
  const { next } = pipe.read();
  const called = next(({ id }) => id === 1);
  pipe.send(call(1, "x".repeat(size)));
  const { content } = ((await called).result ?? {}) as { content?: { text: string }[] };
  expect(content?.[0]?.text).toHaveLength(size);
  const [args = ""] = pipe.noted("calls");
  expect(JSON.parse(args)).toEqual({ text: "x".repeat(size) });
  const refused = next(({ error }) => error !== undefined);
  pipe.send(call(2, "x".repeat(2 * size)));
  expect((await refused).error?.message).toContain("longer than");
  const sized = next(({ id }) => id === 3);
  pipe.send({ id: 3, method: "echo", params: { text: "x".repeat(size) } });
  expect((await sized).result?.size).toBeGreaterThan(size);
  pipe.gateway.stdin.end();
  expect(await pipe.exited).toBe(0);
  expect(pipe.noted("calls")).toHaveLength(1);
});
