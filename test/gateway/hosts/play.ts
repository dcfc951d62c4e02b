/**
 * Plays one column with one client: starts service and host as processes, breaks what is to be broken between the
 * payment and its answer, and counts the payments when all of them have ended.
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Task } from "./agent.ts";
import type { Library } from "./client.ts";
import type { Column } from "./columns.ts";
import { type Payment, startPaymentsService } from "./payments-service.ts";

export type Way = "bare" | "gateway";

export interface Seen {
  readonly payments: number;
  /** What the model was told, in order. */
  readonly words: readonly string[];
  /** The fault came between the payment and its answer. */
  readonly isHit: boolean;
  /** What host, gateway and server wrote to standard error. */
  readonly complained: string;
}

/** What hangs still ends. */
const MOST_MS = 180_000;

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export async function play(
  library: Library,
  column: Column,
  way: Way,
  folder: string,
): Promise<Seen> {
  const { fault } = column;
  const words: string[] = [];
  const started: ChildProcess[] = [];
  let complained = "";
  let isHit = false;

  async function breakAt({ pid, ppid }: Payment, number: number): Promise<void> {
    const [host] = started;
    if (number !== 1 || !host || fault === undefined || fault === "reply_lost") return;
    const killed = { gateway_killed: ppid, server_killed: pid, host_killed: host.pid }[fault];
    const isOther = fault === "host_killed" || killed !== host.pid;
    isHit = isOther && killed !== undefined && process.kill(killed, "SIGKILL");
    if (isHit) await gone(killed);
  }

  const service = await startPaymentsService({
    paid: breakAt,
    losesAnswer() {
      const loses = fault === "reply_lost" && !isHit;
      isHit ||= loses;
      // It never comes, and the host waits no longer.
      if (loses) started[0]?.stdin?.write("\n");
      return loses;
    },
  });
  const task = JSON.stringify(taskFor(library, column, way, { folder, url: service.url }));

  /** Resolves when it has ended; `all`: and whatever it has started, which has its standard error. */
  function startHost(): { readonly ended: Promise<unknown>; readonly all: Promise<unknown> } {
    const host = spawn(process.execPath, [at("agent.ts"), library.name, task], {
      stdio: "pipe",
    });
    started.push(host);
    host.stderr.on("data", (chunk) => {
      complained += chunk;
    });
    createInterface({ input: host.stdout }).on("line", (line) => words.push(JSON.parse(line)));
    return { ended: once(host, "exit"), all: once(host, "close") };
  }

  const stop = setTimeout(() => {
    complained += `Not ended after ${MOST_MS} ms.`;
    for (const host of started) host.kill("SIGKILL");
  }, MOST_MS);
  try {
    const first = startHost();
    await first.ended;
    // The gateway of the first may still be at work.
    if (fault === "host_killed" && isHit) await startHost().all;
    await first.all;
  } finally {
    clearTimeout(stop);
    await service.close();
  }
  const { payments } = service;
  return { payments: payments.length, words, isHit, complained };
}

function taskFor(
  { elicits }: Library,
  { fault, wanted, repeat, person }: Column,
  way: Way,
  { folder, url }: { readonly folder: string; readonly url: string },
): Task {
  const { execPath } = process;
  // A tool that says nothing of itself is the harder one to guard; what is asked about is one that is said to write.
  const server = [execPath, at("payments-server.ts"), url, fault ? "none" : "write"];
  const options = ["--store", join(folder, "ledger.db"), "--lease", "500ms", "--repeat", repeat];
  const gateway = [execPath, at("../../../src/cli/main.ts"), "mcp", ...options, "--", ...server];
  const guarded = way === "gateway" ? gateway : server;
  // What stands in the gateway's place, and is killed, where there is none.
  const hasPipe = fault === "reply_lost" || (fault === "gateway_killed" && way === "bare");
  const whole = hasPipe ? [execPath, at("losing-pipe.ts"), url, ...guarded] : guarded;
  const [command = "", ...args] = whole;
  const env = process.env as Record<string, string>;
  const asked = elicits ? person : undefined;
  return {
    program: { command, args, env, person: asked },
    wanted,
    doesAgain: !elicits && person === "yes",
  };
}

/** Resolves when the process is gone. */
async function gone(pid: number | undefined): Promise<void> {
  const isThere = () => {
    try {
      return pid !== undefined && process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (isThere()) await sleep(5);
}
