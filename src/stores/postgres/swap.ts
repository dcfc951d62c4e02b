/**
 * The statement that makes moves: any number of them at once, each whole or not at all.
 *
 * Read it as: what is *asked*, which of it is *free* to be written, its rows now locked by us, what was
 * *put*, what is *done*, and what stands in place of the rest. A row that another transaction has locked
 * is not waited for: its move is not done, and is tried again alone.
 *
 * @module
 */

import type { Swapped } from "../../ledger/store.ts";
import type { Row, Session, Statement } from "./client.ts";
import { laneIn, leaseIn, type Move, stampOf, storedIn } from "./row.ts";
import { CLOCK, literal, SERVER, type Tables } from "./schema.ts";

/** `"busy"`: the row is as expected, but locked, or just changing. Nothing was written. */
export type Answer = Swapped | "busy";

export interface SwapStatements {
  readonly plain: Statement;
  /** With lanes and removals. Apart: most moves have neither, and Postgres takes half as long again for it. */
  readonly whole: Statement;
}

export interface SwapShape {
  readonly whole: boolean;
  /**
   * In a caller's transaction: waits for a row that is locked, and writes nothing, and answers nothing,
   * unless the transaction is the one whose id is the last value.
   */
  readonly joins: boolean;
  /** Where changes are announced that a process waits for. */
  readonly channel: string | undefined;
}

/** Nothing in a transaction that has not written yet, as when each statement is one of its own. */
export const THIS_TRANSACTION = "pg_current_xact_id_if_assigned()::text";

/**
 * The keys of `moves` are all different, and so are those of their lanes. They come in the order of the keys: all lock
 * in it, so no two wait for each other.
 */
export async function makeMoves(
  session: Session,
  { plain, whole }: SwapStatements,
  moves: readonly Move[],
): Promise<ReadonlyMap<string, Answer>> {
  const isPlain = moves.every(({ lane, text }) => lane === undefined && text !== undefined);
  return answersIn(await session.run(isPlain ? plain : whole, valuesOf(moves)), moves);
}

/** One move in a caller's transaction; nothing if the transaction `xid` has ended. */
export async function joinMove(
  session: Session,
  statement: Statement,
  move: Move,
  xid: string,
): Promise<Answer | undefined> {
  const rows = await session.run(statement, [...valuesOf([move]), xid]);
  return answersIn(rows, [move]).get(move.key);
}

/**
 * Records are apart, a line each, since JSON has no line feed of its own: within other JSON they would be escaped, and
 * read twice.
 */
const valuesOf = (moves: readonly Move[]): string[] => [
  JSON.stringify(moves.map(rowOf)),
  moves.map(({ text }) => text).join("\n"),
];

const rowOf = ({ change, key, lease, phase, lane }: Move) => ({
  key,
  expect: change.expect,
  stamp: change.stamp,
  lease,
  phase,
  state_at: change.record?.stateAt,
  state: change.record?.state.tag,
  tenant: change.tenant,
  id: change.id,
  tool: change.record?.tool,
  scope: change.record?.scope,
  resource: change.record?.resource,
  lane_key: lane?.key,
  lane_expect: lane?.expect,
  lane_name: lane?.name,
  lane: lane?.text,
});

/** The types of `rowOf`. */
const COLUMNS = `key uuid, expect int8, stamp float8, lease int8, phase int2, state_at float8, state text,
    tenant text, id text, tool text, scope text, resource text`;
const LANE_COLUMNS = "lane_key uuid, lane_expect int8, lane_name text, lane text";

function answersIn(rows: readonly Row[], moves: readonly Move[]): ReadonlyMap<string, Answer> {
  const asked = new Map(moves.map((move) => [move.key, move]));
  const answers = new Map<string, Answer>();
  for (const row of rows) {
    const move = asked.get(String(row[0]));
    if (move) answers.set(move.key, answerTo(move, row));
  }
  return answers;
}

function answerTo({ change, lane }: Move, row: Row): Answer {
  const [, time, written, lease, server, found, foundLane] = row;
  const now = Number(time);
  if (typeof written === "string") {
    const sequence = Number(written);
    const version = change.record ? sequence : 0;
    const leaseUntil = leaseIn(lease);
    const stamp = change.record && stampOf(change.record);
    return { ok: true, version, leaseUntil, stamp, now, sequence, server: server ?? undefined };
  }
  const current = storedIn(change.tenant, change.id, JSON.parse(found ?? "[]") as Row);
  const isOther = change.stamp !== undefined && change.stamp !== current?.stamp;
  if (isOther || (current?.version ?? 0) !== change.expect) return { ok: false, current, now };
  if (!lane) return "busy";
  const there = laneIn(JSON.parse(foundLane ?? "[]") as Row) ?? { lane: { queue: [] }, version: 0 };
  return there.version === lane.expect ? "busy" : { ok: false, current, lane: there, now };
}

export function swapSql(tables: Tables, { whole, joins, channel }: SwapShape): string {
  const { operations, lanes, watches, sequence } = tables;
  const lock = joins ? "FOR UPDATE" : "FOR UPDATE SKIP LOCKED";
  /**
   * A sub-select is run for each row, and so in the order of the keys: a join could be planned as a scan
   * of the table, or take its locks in another order. A new row is looked up as well: to insert it over
   * one that a transaction is changing would wait for that.
   */
  const isFree = (
    table: string,
    key: string,
    expect: string,
    and = "",
  ): string => `CASE WHEN ${expect} = 0
    THEN (SELECT version FROM ${table} WHERE key = ${key}) IS NULL
    ELSE (SELECT version FROM ${table} WHERE key = ${key} AND version = ${expect} ${and} ${lock}) IS NOT NULL
  END`;
  const isSame = "AND (a.stamp IS NULL OR state_at = a.stamp)";
  const free = `
  SELECT a.*, nextval(${literal(sequence)}) AS next FROM asked a
  WHERE ${isFree(operations, "a.key", "a.expect", isSame)}
  ${whole ? `AND (a.lane_key IS NULL OR ${isFree(lanes, "a.lane_key", "a.lane_expect")})` : ""}
`;
  const told = `(SELECT pg_notify(${literal(channel ?? "")}, w.key::text)::text FROM ${watches} w
    WHERE w.key = d.key AND a.expect > 0)`;
  return `
WITH asked AS MATERIALIZED (
  SELECT a.*, (SELECT ${CLOCK}) AS now
  FROM ROWS FROM (unnest(string_to_array($2::text, E'\\n', '')),
    json_to_recordset($1::text::json) AS (${whole ? `${COLUMNS}, ${LANE_COLUMNS}` : COLUMNS})
  ) AS a(record)
  ${joins ? `WHERE ${THIS_TRANSACTION} = $3::text` : ""}
),
${whole ? `free AS MATERIALIZED (${free}),` : ""}
put AS (${putSql(tables, whole ? "free" : `(${free}) free`)})
${whole ? restSql(tables) : ""}
SELECT a.key::text, a.now::text, d.version::text, d.lease::text, (SELECT ${SERVER}),
  ${inPlace(operations, "a.key", "version::text, lease::text, record")},
  ${whole ? inPlace(lanes, "a.lane_key", "version::text, lane") : "NULL"}, ${channel ? told : "NULL"}
FROM asked a LEFT JOIN ${whole ? "done" : "put"} d ON d.key = a.key`;
}

/** What stands in place of a move that was not done. A join would be set up by each statement, needed or not. */
const inPlace = (table: string, key: string, columns: string): string => `CASE WHEN d.key IS NULL
    THEN (SELECT json_build_array(${columns})::text FROM ${table} WHERE key = ${key}) END`;

/**
 * New and known rows in one go: an INSERT looks its conflicts up in the index of the keys, whatever
 * the planner thinks of the table. Known rows are locked and bring the version they were decided on
 * as `seq`; a new row brings a number that no row can have, so one that came first stays as it is.
 */
const putSql = ({ operations }: Tables, source: string): string => `
  INSERT INTO ${operations} AS o
    (key, seq, version, lease, phase, state_at, state, tenant, id, tool, scope, resource, record)
  SELECT key, CASE WHEN expect = 0 THEN next ELSE expect END, next,
    CASE WHEN lease < 0 THEN lease ELSE now + lease END,
    phase, state_at, state, tenant, id, tool, scope, resource, record
  FROM ${source} WHERE record IS NOT NULL
  ON CONFLICT (key) DO UPDATE SET version = excluded.version,
    lease = CASE WHEN excluded.lease < 0 THEN o.lease ELSE excluded.lease END,
    phase = excluded.phase, state_at = excluded.state_at, state = excluded.state,
    record = excluded.record
  WHERE o.version = excluded.seq
  RETURNING o.key, o.version, o.lease
`;

/**
 * Removals, and the lanes of what was done. A lane that another process made first is a unique
 * violation: nothing of the statement happens then, and each move is tried again alone.
 */
const restSql = ({ operations, lanes, effects }: Tables): string => `,
removed AS (
  DELETE FROM ${operations} o USING free f WHERE o.key = f.key AND f.record IS NULL
),
released AS (
  DELETE FROM ${effects} e USING free f WHERE e.operation = f.key AND f.record IS NULL
),
done AS MATERIALIZED (
  SELECT * FROM put UNION ALL SELECT key, next, NULL FROM free WHERE record IS NULL
),
lane_made AS (
  INSERT INTO ${lanes} (key, version, tenant, name, lane)
  SELECT lane_key, next, tenant, lane_name, lane FROM free
  WHERE lane IS NOT NULL AND lane_expect = 0 AND key IN (SELECT key FROM done)
  ORDER BY lane_key
),
lane_put AS (
  INSERT INTO ${lanes} (key, version, tenant, name, lane)
  SELECT lane_key, next, tenant, lane_name, lane FROM free
  WHERE lane IS NOT NULL AND lane_expect > 0 AND key IN (SELECT key FROM done)
  ON CONFLICT (key) DO UPDATE SET version = excluded.version, lane = excluded.lane
),
lane_removed AS (
  DELETE FROM ${lanes} l USING free f
  WHERE l.key = f.lane_key AND f.lane IS NULL AND f.key IN (SELECT key FROM done)
)`;
