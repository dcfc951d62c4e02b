/**
 * Runs the agent once, watched, with one reply broken or none, and reads what its processes have written down.
 *
 * @module
 */

import { join } from "node:path";
import { type RunLog, runLogOf } from "../../chaos/judge/run-log.ts";
import { ORDERS, type Orders } from "../../chaos/orders.ts";
import { ownModule } from "../own-files.ts";
import { runWatched } from "../run-program.ts";
import type { Terminal } from "../terminal.ts";

export interface Agent {
  readonly command: readonly string[];
  /** Its output is not shown. */
  readonly isQuiet: boolean;
  readonly timeoutMs: number;
}

export interface AgentRun extends RunLog {
  readonly exitCode: number;
  readonly isTimedOut: boolean;
  readonly seconds: number;
}

export async function runAgent(
  { command, isQuiet, timeoutMs }: Agent,
  orders: Omit<Orders, "folder">,
  terminal: Terminal,
): Promise<AgentRun> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const began = performance.now();
  const { exitCode, logs } = await runWatched((folder) => ({
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
  }));
  return {
    ...runLogOf(logs),
    exitCode,
    isTimedOut: timeout.aborted,
    seconds: Math.round((performance.now() - began) / 100) / 10,
  };
}
