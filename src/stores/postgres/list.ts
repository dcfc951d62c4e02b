/**
 * Lists records in the order of creation or its reverse; wipes and removes the old ones in that order.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import { pruneAs, wipePayloads } from "../../ledger/prune.ts";
import { pageLimit, pageOf, pruneLimit, rowOf } from "../../ledger/query.ts";
import { isOpen, type State, type StateTag, type Stored } from "../../ledger/record.ts";
import type { ListQuery, Page, Pruned, PruneQuery, Store } from "../../ledger/store.ts";
import type { Session } from "./client.ts";
import { checkText, type Phase, storedIn } from "./row.ts";
import type { Tables } from "./schema.ts";

const PHASES: readonly Phase[] = [0, 1, 2];
const SETTLED: readonly Phase[] = [1, 2];
/** How many records are pruned at once. */
const SLICE = 250;

export const listRecords = (session: Session, tables: Tables, query: ListQuery): Promise<Page> =>
  readSlice(session, tables, query, pageLimit(query.limit), phasesOf(query.states));

function phasesOf(states: readonly StateTag[] | undefined): readonly Phase[] {
  if (!states) return PHASES;
  const open = states.filter((tag) => isOpen({ tag } as State)).length;
  if (open === 0) return SETTLED;
  return open === states.length ? [0] : PHASES;
}

/** One page of the records of some phases. Only names of columns are written into the statement. */
async function readSlice(
  session: Session,
  { operations }: Tables,
  query: Omit<ListQuery, "limit">,
  limit: number,
  phases: readonly Phase[],
): Promise<Page> {
  const values: string[] = [];
  const bind = (value: string | number): string => `$${values.push(String(value))}`;
  const bindText = (value: string, name: string): string =>
    `${bind(checkText(value, `query.${name}`))}::text COLLATE "C"`;
  const bindTime = (value: number, name: string): string => {
    if (Number.isNaN(value)) throw new InvalidInputError(`query.${name}`, "must be a number.");
    return `${bind(value)}::float8`;
  };
  const { states, tool, scope, resource, since, until, cursor } = query;
  const tenant = bindText(query.tenant, "tenant");
  const tenantKey = `hashtextextended(${tenant}, 0)`;
  const { newestFirst = false } = query;
  const start = newestFirst ? Number.MAX_SAFE_INTEGER : 0;
  const filters = [
    `tenant = ${tenant}`,
    `seq ${newestFirst ? "<" : ">"} ${bind(cursor === undefined ? start : checkCursor(cursor))}::int8`,
  ];
  if (states) {
    const each = `json_array_elements_text(${bind(JSON.stringify(states))}::text::json)`;
    filters.push(`state = ANY (ARRAY(SELECT ${each}))`);
  }
  if (tool !== undefined) filters.push(`tool = ${bindText(tool, "tool")}`);
  if (resource !== undefined) filters.push(`resource = ${bindText(resource, "resource")}`);
  if (since !== undefined) filters.push(`state_at >= ${bindTime(since, "since")}`);
  if (until !== undefined) filters.push(`state_at < ${bindTime(until, "until")}`);
  // Not both: before the table is analyzed, Postgres would take the index of the tenant and read all it has.
  if (scope === undefined) filters.push(`tenant_key = ${tenantKey}`);
  else {
    const text = bindText(scope, "scope");
    filters.push(`scope_key = hashtextextended(${text}, ${tenantKey}) AND scope = ${text}`);
  }
  // Named in full: `seq` alone would mean the column of text that is returned.
  const order = `ORDER BY o.seq ${newestFirst ? "DESC" : "ASC"} LIMIT ${bind(limit + 1)}::int8`;
  const source = (some: readonly Phase[]): string => `(
    SELECT seq, id, version, lease, record FROM ${operations} o
    WHERE ${filters.join(" AND ")} AND phase IN (${some.join(", ")}) ${order}
  )`;
  // A scope has an index of its own. Otherwise each phase is read in its order, and the two or three
  // are merged: the index has the phase before the order.
  const sources = scope === undefined ? phases.map((phase) => source([phase])) : [source(phases)];
  const text = `SELECT seq::text, id, version::text, lease::text, record
FROM (${sources.join(" UNION ALL ")}) o ${order}`;
  const rows = await session.run({ text }, values);
  const page = rows.slice(0, limit);
  const read = page.map(([, id, ...row]) =>
    rowOf(String(id), () => storedIn(query.tenant, String(id), row)),
  );
  return pageOf(read, rows.length > limit ? String(page.at(-1)?.[0]) : undefined);
}

function checkCursor(cursor: string): number {
  const seq = Number(cursor);
  if (Number.isSafeInteger(seq) && seq >= 1) return seq;
  throw new InvalidInputError("query.cursor", "must come from the page before.");
}

/** By the same compare-and-swap as every other change: a record that was just opened again is left alone. */
export async function pruneRecords(
  session: Session,
  tables: Tables,
  swap: Store["swap"],
  query: PruneQuery,
  now: number,
): Promise<Pruned> {
  const { tenant, payloadsOlderThanMs, tombstonesOlderThanMs } = query;
  const limit = pruneLimit(query.limit);
  let payloads = 0;
  let tombstones = 0;

  async function pruneRecord({ record, version: expect }: Stored): Promise<void> {
    const fate = pruneAs(record, query, now);
    if (fate === "keep") return;
    const kept = fate === "wipe" ? wipePayloads(record) : undefined;
    const swapped = await swap({ tenant, id: record.id, expect, record: kept, lease: "keep" });
    if (!swapped.ok) return;
    if (kept) payloads += 1;
    else tombstones += 1;
  }

  async function prunePhase(phase: Phase, ages: readonly (number | undefined)[]): Promise<void> {
    const age = Math.min(...ages.map((ms) => (ms === undefined ? Infinity : Math.max(ms, 0))));
    let cursor: string | undefined;
    while (Number.isFinite(age) && payloads + tombstones < limit) {
      const size = Math.min(SLICE, limit - payloads - tombstones);
      const slice = await readSlice(session, tables, { tenant, cursor }, size, [phase]);
      await Promise.all(slice.items.map(pruneRecord));
      const last = slice.items.at(-1);
      // In the order of creation: whatever comes after this one was settled later still.
      if (!slice.cursor || (last && last.record.createdAt >= now - age)) return;
      cursor = slice.cursor;
    }
  }

  await prunePhase(1, [payloadsOlderThanMs, tombstonesOlderThanMs]);
  await prunePhase(2, [tombstonesOlderThanMs]);
  return { payloads, tombstones };
}
