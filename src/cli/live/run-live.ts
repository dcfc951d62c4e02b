/**
 * Runs the user's program with the wire counter preloaded, and tells what it sent.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { namesIn, readStart } from "../doctor/read-bounded.ts";
import { EXIT, UsageError } from "../exit.ts";
import { jsonText, visible } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { FOLDER, linesOf, SALT } from "./line.ts";
import { printTally } from "./print-tally.ts";
import { type Tally, tallyOf } from "./tally.ts";

const PRELOAD = new URL(`./preload${extname(fileURLToPath(import.meta.url))}`, import.meta.url);
const MOST_BYTES = 64 * 1_048_576;
const MOST_PROCESSES = 1_000;

/** Ends as the program did; with `strict`, a program that did well ends with 1 if it retried. */
export async function runLive(
  program: readonly string[],
  { json, strict }: { readonly json: boolean; readonly strict: boolean },
  cwd: string,
  terminal: Terminal,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-live-"));
  try {
    const exitCode = await runProgram(program, { json, cwd, folder, env: terminal.env });
    const tally = tallyOf(readLines(folder));
    if (json) terminal.out(jsonText({ exitCode, ...tally }));
    else printTally(tally, terminal);
    return exitCode === EXIT.ok && strict && hasRetried(tally) ? EXIT.found : exitCode;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const hasRetried = ({ operations, outside }: Tally): boolean =>
  [...operations, ...outside].some(({ again }) => again > 0);

const readLines = (folder: string) =>
  namesIn(folder)
    .slice(0, MOST_PROCESSES)
    .map((name) => linesOf(readStart(join(folder, name), MOST_BYTES) ?? ""));

interface Running {
  readonly json: boolean;
  readonly cwd: string;
  readonly folder: string;
  readonly env: Terminal["env"];
}

function runProgram(program: readonly string[], running: Running): Promise<number> {
  const [command = "", ...args] = program;
  const { json, cwd, folder, env } = running;
  // As an environment variable it also reaches what the program starts: npm scripts, workers.
  const options = [env.NODE_OPTIONS, `--import=${PRELOAD.href}`].filter(Boolean).join(" ");
  const child = spawn(command, args, {
    cwd,
    env: {
      ...env,
      NODE_OPTIONS: options,
      [FOLDER]: folder,
      [SALT]: randomBytes(16).toString("base64url"),
    },
    // With --json, stdout is for the JSON alone.
    stdio: ["inherit", json ? process.stderr : "inherit", "inherit"],
  });
  const stop = () => void child.kill("SIGTERM");
  process.once("SIGTERM", stop);
  return new Promise<number>((resolve, reject) => {
    child.once("error", (error) =>
      reject(new UsageError(`"${visible(command)}" cannot be run: ${error.message}`)),
    );
    child.once("close", (code, signal) => resolve(code ?? 128 + (signal ? numberOf(signal) : 0)));
  }).finally(() => process.removeListener("SIGTERM", stop));
}

const numberOf = (signal: NodeJS.Signals): number => constants.signals[signal];
