/**
 * Lists records in the order of creation, and finds those that are due for pruning.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { pageLimit } from "../../ledger/query.ts";
import { isOpen, type State, type StateTag, type Stored } from "../../ledger/record.ts";
import type { ListQuery, Page } from "../../ledger/store.ts";
import { texts } from "./array.ts";
import type { Session } from "./connection.ts";
import { checkText } from "./key.ts";
import type { Names } from "./names.ts";
import { type Phase, storedIn } from "./row.ts";

const PHASES: readonly Phase[] = [0, 1, 2];
const SETTLED: readonly Phase[] = [1, 2];

export interface Slice {
  readonly items: readonly (Stored & { readonly seq: string })[];
  readonly isLast: boolean;
}

export async function listRecords(session: Session, names: Names, query: ListQuery): Promise<Page> {
  const limit = pageLimit(query.limit);
  const { items, isLast } = await readSlice(session, names, query, limit, phasesOf(query.states));
  const stored = items.map(({ seq: _, ...item }) => item);
  return isLast ? { items: stored } : { items: stored, cursor: items.at(-1)?.seq };
}

/** One page of the records of some phases. Only names of columns are written into the statement. */
export async function readSlice(
  session: Session,
  { operations }: Names,
  query: Omit<ListQuery, "limit">,
  limit: number,
  phases: readonly Phase[],
): Promise<Slice> {
  const values: string[] = [];
  const bind = (value: string | number): string => `$${values.push(String(value))}`;
  const { tenant, states, tool, scope, resource, since, until, cursor } = query;
  const ofTenant = `${bind(checkText(tenant, "query.tenant"))}::text COLLATE "C"`;
  const tenantKey = `hashtextextended(${ofTenant}, 0)`;
  const filters = [
    `tenant_key = ${tenantKey} AND tenant = ${ofTenant}`,
    `seq > ${bind(cursor === undefined ? 0 : checkCursor(cursor))}::int8`,
  ];
  if (states) filters.push(`state = ANY (${bind(texts(states))}::text[])`);
  if (tool !== undefined) filters.push(`tool = ${bind(checkText(tool, "query.tool"))}::text`);
  if (scope !== undefined) {
    const ofScope = `${bind(checkText(scope, "query.scope"))}::text COLLATE "C"`;
    filters.push(`scope_key = hashtextextended(${ofScope}, ${tenantKey}) AND scope = ${ofScope}`);
  }
  if (resource !== undefined) {
    filters.push(`resource = ${bind(checkText(resource, "query.resource"))}::text`);
  }
  if (since !== undefined) filters.push(`state_at >= ${bind(checkTime(since, "since"))}::float8`);
  if (until !== undefined) filters.push(`state_at < ${bind(checkTime(until, "until"))}::float8`);
  const more = bind(limit + 1);
  const columns = "seq, id, version, lease, record";
  const end = `ORDER BY seq LIMIT ${more}::int8`;
  const all = filters.join(" AND ");
  // A scope has an index of its own. Otherwise each phase is read in its order, and the two or three
  // are merged: the index has the phase before the order.
  const sources =
    scope === undefined
      ? phases.map(
          (phase) =>
            `(SELECT ${columns} FROM ${operations} WHERE ${all} AND phase = ${phase} ${end})`,
        )
      : [
          `(SELECT ${columns} FROM ${operations} WHERE ${all} AND phase IN (${phases.join(", ")}) ${end})`,
        ];
  const text = `SELECT seq::text, id, version::text, lease::text, record
FROM (${sources.join(" UNION ALL ")}) o ORDER BY o.seq LIMIT ${more}::int8`;
  const rows = await session.run({ text }, values);
  const items = rows.slice(0, limit).map(([seq, id, version, lease, record]) => ({
    ...storedIn(tenant, String(id), String(version), lease, String(record)),
    seq: String(seq),
  }));
  return { items, isLast: rows.length <= limit };
}

function phasesOf(states: readonly StateTag[] | undefined): readonly Phase[] {
  if (!states) return PHASES;
  const open = states.filter((tag) => isOpen({ tag } as State)).length;
  if (open === 0) return SETTLED;
  return open === states.length ? [0] : PHASES;
}

function checkCursor(cursor: string): number {
  const seq = Number(cursor);
  if (Number.isSafeInteger(seq) && seq >= 1) return seq;
  throw new InvalidInputError("query.cursor", "must come from the page before.");
}

function checkTime(time: number, name: string): string {
  if (Number.isNaN(time)) throw new InvalidInputError(`query.${name}`, "must be a number.");
  return String(time);
}
