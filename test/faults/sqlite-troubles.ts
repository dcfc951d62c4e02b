/**
 * What happens to a SQLite file: another process has its lock, or the disk takes no more writes.
 *
 * @module
 */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { canTrace } from "../crash/trace.ts";
import { type FailingWrites, failWrites } from "./failing-writes.ts";
import type { End, Trouble } from "./trouble.ts";

const WRITES = "pwrite64,ftruncate,fallocate";

export const sqliteTroubles: readonly Trouble[] = [
  onFile("a SQLite file is locked by another process", async () => true, lock),
  onFile("the disk of a SQLite file is full", canTrace, failing("ENOSPC")),
  onFile("the disk of a SQLite file may only be read", canTrace, failing("EROFS")),
];

function onFile(
  says: string,
  isPossible: () => Promise<boolean>,
  begin: (path: string, pid: number) => Promise<End>,
): Trouble {
  return {
    says,
    lasts: true,
    async start() {
      if (!(await isPossible())) return undefined;
      const folder = await mkdtemp(join(tmpdir(), "holdfire-trouble-"));
      const path = join(folder, "ledger.db");
      return {
        place: { store: "sqlite", path },
        begin: (pid) => begin(path, pid),
        stop: () => rm(folder, { recursive: true, force: true }),
      };
    },
  };
}

/** The lock is between processes: this one has it, and does nothing. */
async function lock(path: string): Promise<End> {
  const db = new DatabaseSync(path, { timeout: 5_000 });
  db.exec("BEGIN IMMEDIATE");
  return async () => db.close();
}

function failing(error: FailingWrites["error"]) {
  return (_: string, pid: number): Promise<End> =>
    failWrites({ pids: [pid], calls: WRITES, error });
}
