#!/usr/bin/env node
/**
 * The program `holdfire`: gives the command line the real terminal, and ends with its exit code.
 *
 * @module
 */

import { nodeProblem } from "../lang/node-version.ts";
import { EXIT } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import { runCommandLine } from "./run.ts";
import type { Terminal } from "./terminal.ts";

const stopped = new AbortController();

// The first Ctrl-C asks; the second one, with no listener left, ends the process.
process.once("SIGINT", () => stopped.abort());

// `holdfire ls | head` closes the pipe early: nothing reads the output any more. The gateway goes on without its host:
// what it has sent is still answered, and belongs in the ledger.
const [command] = process.argv.slice(2);
process.stdout.on("error", () => {
  if (command !== "mcp") process.exit(process.exitCode ?? 0);
});
process.stderr.on("error", () => {});

const terminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
  status: (text) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[2K${text}`);
  },
  write: (text) => void process.stdout.write(text),
  isTTY: process.stdout.isTTY === true,
  isErrorTTY: process.stderr.isTTY === true,
  columns: process.stdout.columns ?? 80,
  input: process.stdin,
  isInteractive: process.stdin.isTTY === true && process.stdout.isTTY === true,
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
  signal: stopped.signal,
};

const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, terminal);
} else {
  terminal.err(problem);
  process.exitCode = EXIT.usage;
}
