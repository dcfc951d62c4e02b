/**
 * A store whose settles join a caller's transaction: a local effect and its record commit together, or
 * neither does.
 *
 * Claims, notes and renewals go on through the pool, and are there for all to see before the
 * transaction ends. Who waits for the record hears of it after `COMMIT`, since Postgres holds a NOTIFY
 * back until then.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Change, Store, Swapped } from "../../ledger/store.ts";
import type { Session } from "./connection.ts";
import { NOT_IN_TRANSACTION, sqlStateOf } from "./failure.ts";
import { keyOf } from "./key.ts";
import { askedOf } from "./row.ts";
import type { Statements } from "./statements.ts";
import { swapAll } from "./swap.ts";

export interface EnlistOptions {
  readonly store: Store;
  readonly tx: Session;
  /** Resolves when the ledger is open. */
  readonly ready: () => Promise<{ readonly statements: Statements; readonly id: string }>;
  /** Which ledger the transaction sees. */
  readonly idSeenBy: (session: Session) => Promise<string>;
}

const MARK = "holdfire_enlisted";

export function enlistedStore({ store, tx, ready, idSeenBy }: EnlistOptions): Store {
  let checking: Promise<Statements> | undefined;

  /** Before anything is claimed, best by `open()`: what is wrong here must not be found out after it. */
  async function check(): Promise<Statements> {
    const { statements, id } = await ready();
    try {
      // Refused outside of a transaction, where every statement would commit on its own.
      await tx.run({ text: `SAVEPOINT ${MARK}` }, []);
      await tx.run({ text: `RELEASE SAVEPOINT ${MARK}` }, []);
    } catch (error) {
      if (sqlStateOf(error) === NOT_IN_TRANSACTION)
        refuse("must be given a transaction: BEGIN first.");
      throw error;
    }
    const [row] = await tx.run({ text: "SELECT current_setting('transaction_isolation')" }, []);
    // Any other would not see the claim, which is younger than the transaction.
    if (row?.[0] !== "read committed") refuse("must be given a READ COMMITTED transaction.");
    if ((await idSeenBy(tx)) !== id) refuse("must be given a transaction on the store's database.");
    return statements;
  }

  const checked = (): Promise<Statements> => {
    checking ??= check();
    return checking;
  };

  async function settle(change: Change): Promise<Swapped> {
    const { join } = await checked();
    const asked = askedOf(change);
    for (;;) {
      const answer = (await swapAll(tx, join, [asked])).get(asked.key);
      // It waited for a lock, and what it saw before is no longer there: look again.
      if (answer && answer !== "busy") return answer;
    }
  }

  return {
    ...store,

    get promise() {
      return store.promise;
    },

    async open() {
      await checked();
      return store.open();
    },

    swap: (change) => (isSettle(change) ? settle(change) : store.swap(change)),

    async own(tenant, service, effectId, id) {
      const { own } = await checked();
      const key = keyOf(tenant, service, effectId);
      const [row] = await tx.run(own, [key, keyOf(tenant, id), id]);
      return row?.[0] ?? id;
    },

    // The transaction is the caller's, the store is shared.
    async close() {},
  };
}

function isSettle({ record, lease }: Change): boolean {
  // Only what commits together with its effect; that it failed is known to the ledger at once.
  return lease === "none" && record?.state.tag === "committed";
}

function refuse(rule: string): never {
  throw new InvalidInputError("postgres.enlist", rule);
}
