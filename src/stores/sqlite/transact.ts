/**
 * Runs jobs in one transaction, with one sync to disk for all of them.
 *
 * @module
 */

import type { DatabaseSync } from "node:sqlite";
import { failureOf, isBusy } from "./failure.ts";
import type { Committed, Done, Job, Value } from "./job.ts";
import type { Extent } from "./lookup.ts";
import type { Turn } from "./tables.ts";

export interface Transactor {
  /** Every job as one transaction. */
  commit(jobs: readonly Job[], now: number): Committed;
}

export interface TransactorParts {
  readonly db: DatabaseSync;
  readonly run: (job: Job, turn: Turn) => Value<Job>;
  /** Throws if what was committed went to a file that is no longer the ledger. */
  readonly check: () => void;
  /** Called as each transaction begins, with how far the ledger has come. */
  readonly onBegin: (extent: Extent) => void;
  /** Called before a transaction that wrote something is committed. */
  readonly onCommit: (sequence: number) => void;
  /** Undoes what is remembered outside the database. */
  readonly onRollback: () => void;
  /** The boot this connection's clock was anchored in; `undefined` if the clock is not its own. */
  readonly boot: string | undefined;
}

export function transactorOf({
  db,
  run,
  check,
  onBegin,
  onCommit,
  onRollback,
  boot,
}: TransactorParts): Transactor {
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const state = db.prepare("SELECT sequence, boot, folded FROM ledger");
  const advance = db.prepare("UPDATE ledger SET sequence = ?, now = max(now, ?)");

  function inTransaction(now: number, work: (turn: Turn) => readonly Done[]): readonly Done[] {
    begin.run();
    try {
      const ledger = state.get();
      if (boot !== undefined && ledger?.boot !== boot) {
        throw new Error("The ledger's file is in use on another machine.");
      }
      const before = Number(ledger?.sequence);
      onBegin({ sequence: before, folded: Number(ledger?.folded) });
      let sequence = before;
      const done = work({
        now,
        upcoming: () => sequence + 1,
        take: () => {
          sequence += 1;
        },
      });
      // A transaction that writes nothing costs no sync.
      if (sequence > before) {
        advance.run(sequence, now);
        onCommit(sequence);
      }
      commit.run();
      check();
      return done;
    } catch (error) {
      rollBack();
      throw error;
    }
  }

  function rollBack(): void {
    onRollback();
    // Some errors, a full disk among them, have rolled back already.
    if (db.isTransaction) db.exec("ROLLBACK");
  }

  /** Each job by itself, so that one that fails leaves its neighbours alone. */
  function apart(jobs: readonly Job[], turn: Turn): readonly Done[] {
    return jobs.map((job) => {
      db.exec("SAVEPOINT job");
      try {
        const value = run(job, turn);
        db.exec("RELEASE job");
        return { ok: true, value };
      } catch (error) {
        onRollback();
        // The whole transaction is gone, and the jobs before with it.
        if (!db.isTransaction) throw error;
        db.exec("ROLLBACK TO job; RELEASE job");
        return { ok: false, failure: failureOf(error) };
      }
    });
  }

  return {
    commit(jobs, now) {
      try {
        const together = (turn: Turn): readonly Done[] =>
          jobs.map((job) => ({ ok: true, value: run(job, turn) }));
        return { tag: "done", done: inTransaction(now, together) };
      } catch (error) {
        const failure = failureOf(error);
        if (isBusy(failure)) return { tag: "busy", failure };
      }
      try {
        return { tag: "done", done: inTransaction(now, (turn) => apart(jobs, turn)) };
      } catch (error) {
        const failure = failureOf(error);
        if (isBusy(failure)) return { tag: "busy", failure };
        return { tag: "done", done: jobs.map(() => ({ ok: false, failure })) };
      }
    },
  };
}
