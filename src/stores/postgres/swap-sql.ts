/**
 * The statement that makes moves: any number of them at once, each whole or not at all.
 *
 * Read as: what is *asked*, what is *seen* there, which rows are *free* to be written and now locked
 * by us, what was *put*, what is *done*. A row that is locked by another transaction is not waited
 * for; it comes back as not done, and is tried again alone.
 *
 * @module
 */

import { literal, type Names } from "./names.ts";

/** The database's clock, in whole milliseconds. It goes on within a statement. */
export const CLOCK = "floor(extract(epoch FROM clock_timestamp()) * 1000)::int8";

export interface SwapShape {
  /** Also lanes and removals. Apart, because most moves have neither and it costs a tenth. */
  readonly whole: boolean;
  /** Wait for a row that is locked: right in a caller's transaction, wrong in a batch. */
  readonly waits: boolean;
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

/**
 * Arrays sit in a SELECT of their own to hide their length: a planner that sees it plans the whole
 * statement anew each time, which takes longer than to run it.
 */
function asked(whole: boolean): string {
  const columns = whole ? [...COLUMNS, ...LANE_COLUMNS] : COLUMNS;
  const arrays = columns.map(([, type], index) =>
    type === "lines"
      ? `(SELECT string_to_array($${index + 1}::text, chr(10), ''))`
      : `(SELECT $${index + 1}::${type}[])`,
  );
  const names = columns.map(([name]) => name).join(", ");
  return `SELECT * FROM unnest(${arrays.join(", ")}) AS a(${names})`;
}

export function swapSql(names: Names, { whole, waits, channel }: SwapShape): string {
  const { operations, lanes, watches, sequence } = names;
  const lock = waits ? "FOR UPDATE" : "FOR UPDATE SKIP LOCKED";
  const ifLane = (text: string): string => (whole ? text : "");
  // LATERAL with LIMIT or a lock stays a look-up by key, row by row and so in the order of the keys:
  // a join could be planned as a scan of the table, or take its locks in another order.
  return `
WITH clock AS MATERIALIZED (SELECT ${CLOCK} AS now),
asked AS MATERIALIZED (${asked(whole)}),
seen AS MATERIALIZED (
  SELECT a.*, o.version AS found, o.lease AS leased, o.record AS current
    ${ifLane(", l.version AS lane_found, l.lane AS lane_current")}
  FROM asked a
  LEFT JOIN LATERAL (
    SELECT version, lease, ${whole ? "record" : "CASE WHEN version <> a.expect THEN record END AS record"}
    FROM ${operations} WHERE key = a.key LIMIT 1
  ) o ON true
  ${ifLane(`LEFT JOIN LATERAL (SELECT version, lane FROM ${lanes} WHERE key = a.lane_key LIMIT 1) l ON true`)}
),
free AS MATERIALIZED (
  SELECT s.*, nextval(${literal(sequence)}) AS next
  FROM seen s
  LEFT JOIN LATERAL (
    SELECT true AS held FROM ${operations} o
    WHERE o.key = s.key AND s.found = s.expect AND o.version = s.expect ${lock}
  ) o ON true
  ${ifLane(`LEFT JOIN LATERAL (
    SELECT true AS held FROM ${lanes} l
    WHERE l.key = s.lane_key AND s.lane_found = s.lane_expect AND l.version = s.lane_expect ${lock}
  ) l ON true`)}
  WHERE (o.held OR (s.expect = 0 AND s.found IS NULL))
    ${ifLane("AND (s.lane_key IS NULL OR l.held OR (s.lane_expect = 0 AND s.lane_found IS NULL))")}
),
${put(names)},
${whole ? rest(names) : "done AS (SELECT key, version, lease FROM put)"}
SELECT d.key::text, 'y', d.version::text, d.lease::text, clock.now::text, NULL, NULL, NULL,
  ${channel === undefined ? "NULL" : "t.told::text"}
FROM done d CROSS JOIN clock
${
  channel === undefined
    ? ""
    : `LEFT JOIN LATERAL (
  SELECT pg_notify(${literal(channel)}, w.key::text) AS told FROM ${watches} w WHERE w.key = d.key LIMIT 1
) t ON true`
}
UNION ALL
SELECT s.key::text, 'n', s.found::text, s.leased::text, clock.now::text, s.current,
  ${whole ? "s.lane_found::text, s.lane_current" : "NULL, NULL"}, NULL
FROM seen s CROSS JOIN clock WHERE s.key NOT IN (SELECT key FROM done)`;
}

/**
 * New and known rows in one go: an INSERT looks its conflicts up in the index of the keys, whatever
 * the planner thinks of the table. Known rows are locked and bring the version they were decided on
 * as `seq`; a new row brings a number that no row can have, so one that came first stays as it is.
 */
const put = ({ operations }: Names): string => `put AS (
  INSERT INTO ${operations} AS o
    (key, seq, version, lease, phase, state_at, state, tenant, id, tool, scope, resource, record)
  SELECT f.key, CASE WHEN f.expect = 0 THEN f.next ELSE f.expect END, f.next,
    CASE WHEN f.lease < 0 THEN f.leased ELSE clock.now + f.lease END,
    f.phase, f.state_at, f.state, f.tenant, f.id, f.tool, f.scope, f.resource, f.record
  FROM free f CROSS JOIN clock WHERE f.record IS NOT NULL
  ON CONFLICT (key) DO UPDATE SET version = excluded.version, lease = excluded.lease,
    phase = excluded.phase, state_at = excluded.state_at, state = excluded.state,
    record = excluded.record
  WHERE o.version = excluded.seq
  RETURNING o.key, o.version, o.lease
)`;

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
done AS (
  SELECT key, version, lease FROM put
  UNION ALL SELECT key, next, NULL FROM free WHERE record IS NULL
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
