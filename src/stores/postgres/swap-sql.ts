/**
 * The statement that makes moves: any number of them at once, each whole or not at all.
 *
 * Read as: what is *asked*, which rows are *free* to be written and now locked by us, what was *put*,
 * what is *done*, and what stands in place of the rest. A row that another transaction has locked is
 * not waited for; it comes back as not done, and is tried again alone.
 *
 * @module
 */

import { literal, type Names } from "./names.ts";

/** The database's clock, in whole milliseconds. It goes on within a statement. */
export const CLOCK = "floor(extract(epoch FROM clock_timestamp()) * 1000)::int8";

/** Nothing in a transaction that has not written yet, as when each statement is one of its own. */
export const THIS_TRANSACTION = "pg_current_xact_id_if_assigned()::text";

export interface SwapShape {
  /** Also lanes and removals. Apart, because most moves have neither. */
  readonly whole: boolean;
  /**
   * In a caller's transaction: waits for a row that is locked, and writes nothing unless the
   * transaction is the one whose id comes as one more value.
   */
  readonly joins: boolean;
  /** Where changes are announced that somebody watches. */
  readonly channel: string | undefined;
}

const COLUMNS = [
  ["key", "uuid"],
  ["expect", "int8"],
  ["lease", "int8"],
  ["phase", "int2"],
  ["state_at", "float8"],
  ["state", "text"],
  ["tenant", "text"],
  ["id", "text"],
  ["tool", "text"],
  ["scope", "text"],
  ["resource", "text"],
  ["record", "lines"],
] as const;

const LANE_COLUMNS = [
  ["lane_key", "uuid"],
  ["lane_expect", "int8"],
  ["lane_name", "text"],
  ["lane", "lines"],
] as const;

export function swapSql(names: Names, shape: SwapShape): string {
  const { operations, lanes } = names;
  const { whole } = shape;
  const lane = whole ? "l.version::text, l.lane" : "NULL, NULL";
  return `
WITH clock AS MATERIALIZED (SELECT ${CLOCK} AS now),
asked AS MATERIALIZED (${asked(shape)}),
${whole ? `free AS MATERIALIZED (${free(names, shape)}),` : ""}
put AS (${put(names, whole ? "free" : `(${free(names, shape)})`)}),
${whole ? rest(names) : "done AS MATERIALIZED (SELECT * FROM put)"}
${summary(names, shape)}
UNION ALL
SELECT a.key::text, o.version::text, o.lease::text, o.record, ${lane}, clock.now::text
FROM asked a CROSS JOIN clock
LEFT JOIN LATERAL (
  SELECT version, lease, record FROM ${operations} WHERE key = a.key LIMIT 1
) o ON true
${whole ? `LEFT JOIN LATERAL (SELECT version, lane FROM ${lanes} WHERE key = a.lane_key LIMIT 1) l ON true` : ""}
WHERE a.key NOT IN (SELECT key FROM done)`;
}

/**
 * Arrays sit in a SELECT of their own to hide their length: a planner that sees it plans the whole
 * statement anew each time, which takes longer than to run it.
 */
function asked({ whole, joins }: SwapShape): string {
  const columns = whole ? [...COLUMNS, ...LANE_COLUMNS] : COLUMNS;
  const arrays = columns.map(([, type], index) =>
    type === "lines"
      ? `(SELECT string_to_array($${index + 1}::text, chr(10), ''))`
      : `(SELECT $${index + 1}::${type}[])`,
  );
  const names = columns.map(([name]) => name).join(", ");
  const guard = joins ? `WHERE ${THIS_TRANSACTION} = $${columns.length + 1}::text` : "";
  return `SELECT * FROM unnest(${arrays.join(", ")}) AS a(${names}) ${guard}`;
}

/**
 * A look-up by key in LATERAL, with a limit or a lock, is made row by row and so in the order of the
 * keys: a join could be planned as a scan of the table, or take its locks in another order. A new row
 * is looked up as well: to insert it over one that a transaction is changing would wait for that.
 */
function free({ operations, lanes, sequence }: Names, { whole, joins }: SwapShape): string {
  const lock = joins ? "FOR UPDATE" : "FOR UPDATE SKIP LOCKED";
  const ofLane = whole
    ? `LEFT JOIN LATERAL (
    SELECT true AS there FROM ${lanes} WHERE a.lane_expect = 0 AND key = a.lane_key LIMIT 1
  ) m ON true
  LEFT JOIN LATERAL (
    SELECT true AS held FROM ${lanes} l
    WHERE a.lane_expect > 0 AND l.key = a.lane_key AND l.version = a.lane_expect ${lock}
  ) l ON true`
    : "";
  const andLane = whole
    ? "AND (a.lane_key IS NULL OR l.held OR (a.lane_expect = 0 AND m.there IS NULL))"
    : "";
  return `SELECT a.*, o.lease AS leased, clock.now, nextval(${literal(sequence)}) AS next
  FROM asked a CROSS JOIN clock
  LEFT JOIN LATERAL (
    SELECT true AS there FROM ${operations} WHERE a.expect = 0 AND key = a.key LIMIT 1
  ) n ON true
  LEFT JOIN LATERAL (
    SELECT true AS held, o.lease FROM ${operations} o
    WHERE a.expect > 0 AND o.key = a.key AND o.version = a.expect ${lock}
  ) o ON true
  ${ofLane}
  WHERE (o.held OR (a.expect = 0 AND n.there IS NULL)) ${andLane}`;
}

/**
 * New and known rows in one go: an INSERT looks its conflicts up in the index of the keys, whatever
 * the planner thinks of the table. Known rows are locked and bring the version they were decided on
 * as `seq`; a new row brings a number that no row can have, so one that came first stays as it is.
 */
const put = ({ operations }: Names, source: string): string => `
  INSERT INTO ${operations} AS o
    (key, seq, version, lease, phase, state_at, state, tenant, id, tool, scope, resource, record)
  SELECT f.key, CASE WHEN f.expect = 0 THEN f.next ELSE f.expect END, f.next,
    CASE WHEN f.lease < 0 THEN f.leased ELSE f.now + f.lease END,
    f.phase, f.state_at, f.state, f.tenant, f.id, f.tool, f.scope, f.resource, f.record
  FROM ${source} f WHERE f.record IS NOT NULL
  ON CONFLICT (key) DO UPDATE SET version = excluded.version, lease = excluded.lease,
    phase = excluded.phase, state_at = excluded.state_at, state = excluded.state,
    record = excluded.record
  WHERE o.version = excluded.seq
  RETURNING o.key, o.seq, o.version, o.lease
`;

/**
 * Removals, and the lanes of what was done. A lane that somebody made first is a unique violation:
 * nothing of the statement happens then, and each move is tried again alone.
 */
const rest = ({ operations, lanes, effects }: Names): string => `gone AS (
  DELETE FROM ${operations} o USING free f WHERE o.key = f.key AND f.record IS NULL
),
released AS (
  DELETE FROM ${effects} e USING free f WHERE e.operation = f.key AND f.record IS NULL
),
done AS MATERIALIZED (
  SELECT * FROM put
  UNION ALL SELECT key, expect, next, NULL FROM free WHERE record IS NULL
),
lane_new AS (
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
lane_gone AS (
  DELETE FROM ${lanes} l USING free f
  WHERE l.key = f.lane_key AND f.lane IS NULL AND f.key IN (SELECT key FROM done)
)`;

/** All that was done in one row, `key version lease` each. Nobody waits for a row that is new. */
function summary({ watches }: Names, { channel, joins }: SwapShape): string {
  const told =
    channel === undefined
      ? "NULL::text AS told"
      : `pg_notify(${literal(channel)}, w.key::text) AS told FROM ${watches} w
    WHERE d.seq <> d.version AND w.key = d.key LIMIT 1`;
  return `SELECT NULL, string_agg(concat_ws(' ', d.key, d.version, d.lease), ','), count(t.told)::text,
  ${joins ? THIS_TRANSACTION : "NULL"}, NULL, NULL, (SELECT now::text FROM clock)
FROM done d LEFT JOIN LATERAL (SELECT ${told}) t ON true`;
}
