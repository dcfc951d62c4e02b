/**
 * A host at one end of a pipe, with the bare server or a gateway at the other: makes calls, and asks a gateway how much
 * heap is left after its garbage is collected.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Pipe {
  request(method: string, params?: object): Promise<unknown>;
  /** What the process at the other end holds after a garbage collection, in bytes. */
  heapUsed(): Promise<number>;
  close(): Promise<void>;
}

/** One of the server's two tools, with arguments that no other call has. */
export const call = (pipe: Pipe, tool: "read" | "write", text: string): Promise<unknown> =>
  pipe.request("tools/call", { name: tool, arguments: { text } });

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const SERVER = at("server.ts");
const MAIN = at("../../src/cli/main.ts");
/** Answers each message of its parent with its heap. Twice, since the first one only marks what finalizers free. */
const REPORTS_HEAP = `data:text/javascript,${encodeURIComponent(`
  process.on("message", () => { gc(); gc(); process.send(process.memoryUsage().heapUsed); });
  process.channel.unref();
`)}`;

export const barePipe = (): Promise<Pipe> => open([SERVER]);

/** @param options of `holdfire mcp` */
export const gatewayPipe = (ledger: string, options: readonly string[] = []): Promise<Pipe> =>
  open([MAIN, "mcp", "--store", ledger, ...options, "--", process.execPath, SERVER]);

async function open(argv: readonly string[]): Promise<Pipe> {
  const child = spawn(process.execPath, ["--expose-gc", "--import", REPORTS_HEAP, ...argv], {
    stdio: ["pipe", "pipe", "inherit", "ipc"],
  });
  const pipe = speakTo(child);
  await pipe.request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "bench", version: "1.0.0" },
  });
  return pipe;
}

function speakTo(child: ChildProcess): Pipe {
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("The process has no pipes.");
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const waiting = new Map<number, (message: unknown) => void>();
  let count = 0;
  createInterface({ input: stdout }).on("line", (line) => {
    const message = JSON.parse(line);
    waiting.get(message.id)?.(message);
    waiting.delete(message.id);
  });
  return {
    request: (method, params = {}) =>
      new Promise((resolve, reject) => {
        count += 1;
        waiting.set(count, (message) => {
          const { error, result } = message as { error?: unknown; result?: { isError?: true } };
          if (error || result?.isError) reject(new Error(JSON.stringify(message)));
          else resolve(message);
        });
        stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: count, method, params })}\n`);
      }),
    heapUsed: () =>
      new Promise((resolve) => {
        child.once("message", (bytes) => resolve(Number(bytes)));
        child.send("heap");
      }),
    async close() {
      stdin.end();
      await exited;
    },
  };
}
