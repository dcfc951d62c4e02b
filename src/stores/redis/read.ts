/**
 * Reads one record or one lane, and the server's time with it.
 *
 * @module
 */

import type { Found, StoredLane } from "../../ledger/store.ts";
import { laneIn, storedIn } from "./row.ts";
import { type Script, script } from "./script.ts";
import type { Session } from "./session.ts";

/** KEYS: head, what to read. */
export const READ: Script = script(`
return {'ok', now, redis.call('GET', KEYS[2]) or ''}
`);

export async function readRecord(session: Session, tenant: string, id: string): Promise<Found> {
  const bucket = session.layout.bucketOf(tenant, id);
  const key = session.layout.key(bucket, "operation", tenant, id);
  const [, now, row = ""] = await session.ask(bucket, READ, [key], []);
  return { stored: storedIn(row, tenant, id), now: Number(now) };
}

export async function readLane(
  session: Session,
  tenant: string,
  name: string,
): Promise<{ readonly stored: StoredLane | undefined; readonly now: number }> {
  const bucket = session.layout.bucketOf(tenant, name);
  const key = session.layout.key(bucket, "lane", tenant, name);
  const [, now, row = ""] = await session.ask(bucket, READ, [key], []);
  return { stored: row === "" ? undefined : laneIn(row), now: Number(now) };
}
