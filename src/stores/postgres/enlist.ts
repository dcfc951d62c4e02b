/**
 * A store whose settles join a caller's transaction: a local effect and its record commit together, or
 * neither does.
 *
 * All else goes on through the pool, and all processes see it before the transaction ends: claims, notes,
 * renewals, and that an operation was not applied; but for what the transaction has settled itself, which the same call
 * again finds there. Those who wait for the record are told after `COMMIT`,
 * since Postgres holds a NOTIFY back until then. After a call that failed, and after a settle of an operation
 * that another owner has taken over, the transaction cannot be committed: an effect never commits without its
 * record.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Stored } from "../../ledger/record.ts";
import type { Change, EnlistedStore, Store, Swapped } from "../../ledger/store.ts";
import { type Session, sqlStateOf } from "./client.ts";
import { keyOf, type Move, moveOf, storedIn } from "./row.ts";
import { literal } from "./schema.ts";
import type { Statements } from "./statements.ts";
import { joinMove } from "./swap.ts";

export interface EnlistOptions {
  readonly store: Store;
  readonly tx: Session;
  /** What the user calls the transaction: a client, or postgres.js's `sql`. */
  readonly client: object;
  /** Resolves when the ledger is open. */
  readonly ready: () => Promise<{ readonly statements: Statements; readonly id: string }>;
  /** Which ledger the transaction sees. */
  readonly idSeenBy: (session: Session) => Promise<string>;
}

/** A transaction that was found fit. */
interface Joined {
  readonly statements: Statements;
  /** The transaction's own id: a client that was given back may be in another by now. */
  readonly xid: string;
  /** The rows that it has settled. Their locks are its own: a move through the pool would wait for its end. */
  readonly settled: Set<string>;
}

/** What was settled in the transaction that a client is in, also by another `enlist` of it. */
const SETTLED = new WeakMap<object, { readonly of: string; readonly rows: Set<string> }>();

function settledIn(client: object, of: string): Set<string> {
  const there = SETTLED.get(client);
  const rows = there?.of === of ? there.rows : new Set<string>();
  SETTLED.set(client, { of, rows });
  return rows;
}

const NOT_IN_TRANSACTION = "25P01";
const MARK = "holdfire_enlisted";
const ENDED = "was given a transaction that has ended; nothing was written.";

/** Makes `COMMIT` a rollback, of this transaction and of no later one on the same connection. */
const spoilSql = (xid: string): string => `DO $$ BEGIN
  IF pg_current_xact_id_if_assigned()::text = ${literal(xid)} THEN
    RAISE EXCEPTION 'holdfire: a call in this transaction failed, so it cannot be committed';
  END IF;
END $$`;

export function enlistedStore({
  store,
  tx,
  client,
  ready,
  idSeenBy,
}: EnlistOptions): EnlistedStore {
  let joining: Promise<Joined> | undefined;
  let known: Joined | undefined;

  /** Before anything is claimed: what is wrong here must not be found out after the effect. */
  async function join(): Promise<Joined> {
    const { statements, id } = await ready();
    try {
      // Refused outside of a transaction, where every statement would commit on its own.
      await tx.run({ text: `SAVEPOINT ${MARK}` }, []);
      await tx.run({ text: `RELEASE SAVEPOINT ${MARK}` }, []);
    } catch (error) {
      if (sqlStateOf(error) !== NOT_IN_TRANSACTION) throw error;
      refuse("must be given a transaction: BEGIN first.");
    }
    const text = "SELECT current_setting('transaction_isolation'), pg_current_xact_id()::text";
    const [[isolation, xid] = []] = await tx.run({ text }, []);
    // Any other would not see the claim, which is younger than the transaction.
    if (isolation !== "read committed") refuse("must be given a READ COMMITTED transaction.");
    if ((await idSeenBy(tx)) !== id) refuse("must be given a transaction on the store's database.");
    known = { statements, xid: String(xid), settled: settledIn(client, `${id} ${xid}`) };
    return known;
  }

  const joined = (): Promise<Joined> => {
    joining ??= join();
    return joining;
  };

  /** If it fails, the transaction has failed before, or its connection is gone: either way it cannot commit. */
  async function spoil(): Promise<void> {
    const { xid } = await joined();
    await tx.run({ text: spoilSql(xid) }, []).catch(() => {});
  }

  async function moveInside(move: Move): Promise<Swapped> {
    const { statements, xid } = await joined();
    for (;;) {
      const answer = (await joinMove(tx, statements.join, move, xid)) ?? refuse(ENDED);
      // It waited for a lock, and what it saw before is no longer there: ask again.
      if (answer !== "busy") return answer;
    }
  }

  async function settle(move: Move): Promise<Swapped> {
    const answer = await moveInside(move);
    if (answer.ok) (await joined()).settled.add(move.key);
    else if (isLost(move.change, answer.current)) await spoil();
    return answer;
  }

  return {
    ...store,

    get promise() {
      return store.promise;
    },

    async open() {
      await joined();
      return store.open();
    },

    hasSettled: (tenant, id) => known?.settled.has(keyOf(tenant, id)) ?? false,

    async swap(change) {
      const { settled } = await joined();
      const move = moveOf(change);
      if (settled.has(move.key)) return moveInside(move);
      return isCommit(change) ? settle(move) : store.swap(change);
    },

    spoil,

    /** What the transaction has settled is settled for it: the next write to the same thing need not wait for itself. */
    async read(tenant, id) {
      const { settled, statements } = await joined();
      const key = keyOf(tenant, id);
      if (!settled.has(key)) return store.read(tenant, id);
      // A transaction that has failed, or has ended, is asked nothing more.
      const rows = await tx.run(statements.read, [key]).catch(() => undefined);
      if (!rows) return store.read(tenant, id);
      const [[now, ...row] = []] = rows;
      return { stored: storedIn(tenant, id, row), now: Number(now) };
    },

    async own(tenant, service, effectId, id) {
      const { statements, xid } = await joined();
      const values = [keyOf(tenant, service, effectId), keyOf(tenant, id), id, xid];
      const [row] = await tx.run(statements.joinOwn, values);
      return row?.[0] ?? refuse(ENDED);
    },

    // The transaction is the caller's, the store is shared.
    async close() {},
  };
}

const isCommit = ({ record, lease }: Change): boolean =>
  lease === "none" && record?.state.tag === "committed";

/** Whether the settle cannot be made at all, rather than be decided anew on a record that was touched. */
const isLost = ({ record }: Change, current: Stored | undefined): boolean =>
  current?.record.state.tag !== "claimed" || current.record.epoch !== record?.epoch;

function refuse(rule: string): never {
  throw new InvalidInputError("postgres.enlist", rule);
}
