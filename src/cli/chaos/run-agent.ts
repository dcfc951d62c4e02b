/**
 * Runs the agent once, watched, with one reply broken or none, and reads what its processes have written down.
 *
 * @module
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunLog, runLogOf, wasHit } from "../../chaos/judge/run-log.ts";
import { ORDERS, type Orders } from "../../chaos/orders.ts";
import { namesIn, readStart } from "../doctor/read-bounded.ts";
import { ownModule } from "../own-files.ts";
import { runProgram } from "../run-program.ts";
import type { Terminal } from "../terminal.ts";

export interface Agent {
  readonly command: readonly string[];
  /** Its output is not shown. */
  readonly isQuiet: boolean;
  readonly timeoutMs: number;
}

export interface AgentRun extends RunLog {
  readonly exitCode: number;
  readonly isHit: boolean;
  readonly isTimedOut: boolean;
  readonly seconds: number;
}

const MOST_BYTES = 64 * 1_048_576;
const MOST_PROCESSES = 1_000;

export async function runAgent(
  { command, isQuiet, timeoutMs }: Agent,
  orders: Omit<Orders, "folder">,
  terminal: Terminal,
): Promise<AgentRun> {
  const folder = mkdtempSync(join(tmpdir(), "holdfire-chaos-"));
  const timeout = AbortSignal.timeout(timeoutMs);
  const began = performance.now();
  try {
    const exitCode = await runProgram({
      command,
      cwd: terminal.cwd,
      env: {
        ...terminal.env,
        // Answered from the ledger of the run before, a guarded agent would send nothing.
        HOLDFIRE_STORE: join(folder, "ledger", "ledger.db"),
        [ORDERS]: JSON.stringify({ ...orders, folder }),
      },
      preload: ownModule("chaos/preload"),
      // Stdout is for the report.
      output: isQuiet ? ["ignore", "ignore"] : [process.stderr, "inherit"],
      signal: AbortSignal.any([timeout, terminal.signal]),
    });
    const texts = namesIn(folder)
      .filter((name) => name.endsWith(".jsonl"))
      .slice(0, MOST_PROCESSES)
      .map((name) => readStart(join(folder, name), MOST_BYTES) ?? "");
    return {
      ...runLogOf(texts),
      exitCode,
      isHit: wasHit(texts),
      isTimedOut: timeout.aborted,
      seconds: Math.round((performance.now() - began) / 100) / 10,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
