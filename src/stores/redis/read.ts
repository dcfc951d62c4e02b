/**
 * Reads one record or one lane, and the server's time with it.
 *
 * @module
 */

import type { Found, StoredLane } from "../../ledger/store.ts";
import { laneIn, storedIn } from "./row.ts";
import { SAME_LEDGER, type Script, script } from "./script.ts";
import type { Session } from "./session.ts";

/** KEYS: counter, what to read. */
export const READ: Script = script(`${SAME_LEDGER}
return {'ok', time[1], time[2], redis.call('GET', KEYS[2]) or ''}
`);

export async function readRecord(session: Session, tenant: string, id: string): Promise<Found> {
  const bucket = session.layout.bucketOf(tenant, id);
  const key = session.layout.key(bucket, "operation", tenant, id);
  const { now, values } = await session.ask(bucket, READ, [key], []);
  return { stored: storedIn(values[0] ?? "", tenant, id), now };
}

export async function readLane(
  session: Session,
  tenant: string,
  name: string,
): Promise<{ readonly stored: StoredLane | undefined; readonly now: number }> {
  const bucket = session.layout.bucketOf(tenant, name);
  const key = session.layout.key(bucket, "lane", tenant, name);
  const { now, values } = await session.ask(bucket, READ, [key], []);
  return { stored: values[0] ? laneIn(values[0]) : undefined, now };
}
