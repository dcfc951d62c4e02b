/**
 * The same moves as in `swap-sql.ts`, for one alone without a lane: what is made for many costs a lone
 * caller more to start than to run.
 *
 * @module
 */

import { literal, type Names } from "./names.ts";
import { CLOCK } from "./swap-sql.ts";

/** Either what was written, or what stands there; neither, if somebody made it just now. */
const answer = (told: string, { operations }: Names): string => `
SELECT 'y', version::text, lease::text, ${CLOCK}::text, NULL, ${told} FROM put
UNION ALL
SELECT 'n', version::text, lease::text, ${CLOCK}::text, record, NULL FROM ${operations}
WHERE key = $1::uuid AND NOT EXISTS (SELECT 1 FROM put)`;

/** Looked up first: to insert it over one that a transaction is changing would wait for that. */
export const firstSql = (names: Names): string => `WITH put AS (
  INSERT INTO ${names.operations}
    (key, seq, version, lease, phase, state_at, state, tenant, id, tool, scope, resource, record)
  SELECT $1::uuid, n.next, n.next, ${CLOCK} + $2::int8, $3::int2, $4::float8, $5::text, $6::text,
    $7::text, $8::text, $9::text, $10::text, $11::text
  FROM (SELECT nextval(${literal(names.sequence)}) AS next) n
  WHERE NOT EXISTS (SELECT 1 FROM ${names.operations} WHERE key = $1::uuid)
  ON CONFLICT (key) DO NOTHING
  RETURNING version, lease
)${answer("NULL", names)}`;

export const nextSql = (names: Names, channel: string | undefined): string => `WITH put AS (
  UPDATE ${names.operations} o SET version = nextval(${literal(names.sequence)}),
    lease = CASE WHEN $2::int8 < 0 THEN o.lease ELSE ${CLOCK} + $2::int8 END,
    phase = $3::int2, state_at = $4::float8, state = $5::text, record = $6::text
  WHERE o.key = (
    SELECT key FROM ${names.operations} WHERE key = $1::uuid AND version = $7::int8
    FOR UPDATE SKIP LOCKED
  )
  RETURNING o.version, o.lease
)${answer(channel === undefined ? "NULL" : toldOf(names, channel), names)}`;

const toldOf = ({ watches }: Names, channel: string): string =>
  `(SELECT pg_notify(${literal(channel)}, w.key::text)::text FROM ${watches} w WHERE w.key = $1::uuid)`;
