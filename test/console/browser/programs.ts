/**
 * The processes of a browser test: the command `holdfire console`, and programs that write to the same ledger.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export interface Program {
  /** The next line that it prints; fails if it ends first. */
  line(): Promise<string>;
  /** Waits until it has ended, and returns its exit code. */
  ended(): Promise<number | null>;
  stop(): void;
}

function start(argv: readonly string[]): Program {
  const child: ChildProcess = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  if (!child.stdout) throw new Error("The program has no output.");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const exit = once(child, "exit").then(([code]) => code as number | null);
  return {
    async line() {
      const { value, done } = await lines.next();
      if (done) throw new Error(`The program ended: ${said}`);
      return value;
    },
    ended: () => exit,
    stop: () => void child.kill("SIGINT"),
  };
}

export const writer = (...args: readonly string[]): Program =>
  start([here("./writer.ts"), ...args]);

/** The command, as a person types it. */
export async function startConsole(
  ...args: readonly string[]
): Promise<{ readonly url: string; readonly program: Program }> {
  const main = here("../../../src/cli/main.ts");
  const program = start([main, "console", "--json", "--no-open", ...args]);
  const { url } = JSON.parse(await program.line()) as { url: string };
  return { url, program };
}
