/**
 * Changes one record by compare-and-swap: one script, in which record, index, lease and lane change
 * together or not at all.
 *
 * @module
 */

import { InvalidInputError } from "../../errors.ts";
import type { Change, Found, LeaseChange, Swapped } from "../../ledger/store.ts";
import { releaseEffects } from "./effects.ts";
import { type Kind, laneIn, recordIn, recordText } from "./layout.ts";
import { type Answer, READ, type Session } from "./session.ts";
import { SWAP, SWAP_IN_CLUSTER } from "./swap-script.ts";
import { createTogether } from "./together.ts";

/** The nonce names the write. */
export type SwapRecord = (change: Change, nonce: string) => Promise<Swapped>;

interface Job {
  readonly bucket: number;
  readonly change: Change;
  readonly key: string;
  readonly lease: string;
  readonly text: string;
}

/** A century, in milliseconds: no lease is longer. */
const LONGEST_LEASE_MS = 100 * 366 * 24 * 3_600_000;

export function createSwapper(session: Session): SwapRecord {
  const { layout } = session;
  const script = layout.buckets > 1 ? SWAP_IN_CLUSTER : SWAP;
  const join = createTogether(ask, session.isRefusal);

  /** Jobs of one bucket and tenant; removals and lanes alone. */
  async function ask(jobs: readonly Job[]): Promise<readonly Answer[]> {
    const { bucket, change } = jobs[0] as Job;
    const keyOf = (kind: Kind, ...names: string[]) =>
      layout.key(bucket, kind, change.tenant, ...names);
    const keys = [keyOf("index"), keyOf("open"), keyOf("scope")];
    const args = [String(jobs.length)];
    for (const { change, key, lease, text } of jobs) {
      const { id, record, expect, lane } = change;
      keys.push(key);
      args.push(String(expect), lease, text);
      if (!record) keys.push(keyOf("owned", id), keyOf("effects"));
      if (lane) {
        keys.push(keyOf("lane", lane.name));
        args.push(String(lane.expect), lane.lane ? JSON.stringify(lane.lane) : "");
      }
    }
    const { now, values } = await session.ask(bucket, script, keys, args);
    if (jobs.length === 1) return [{ now, values }];
    return jobs.map((_, place) => ({ now, values: values.slice(3 * place, 3 * place + 3) }));
  }

  return async (change, nonce) => {
    const { tenant, id, record, lane } = change;
    const bucket = layout.bucketOf(tenant, id);
    const job = {
      bucket,
      change,
      key: layout.key(bucket, "operation", tenant, id),
      lease: leaseText(change.lease),
      text: record ? recordText(record, nonce) : "",
    };
    const isPlain = record && !lane;
    const { now, values } = await (isPlain
      ? join(`${bucket} ${tenant}`, job)
      : ask([job]).then(([it]) => it as Answer));
    const [tag, first = "", second = "", ...effects] = values;
    if (tag !== "ok") {
      const current = recordIn(first, tenant, id);
      return tag === "lane_refused"
        ? { ok: false, current, lane: laneIn(second), now }
        : { ok: false, current, now };
    }
    if (effects.length > 0) await releaseEffects(session, tenant, id, effects);
    const version = Number(first);
    const sequence = session.saw(bucket, version);
    const leaseUntil = second === "" ? undefined : Number(second);
    return { ok: true, version: record ? version : 0, leaseUntil, now, sequence };
  };
}

export async function readRecord(session: Session, tenant: string, id: string): Promise<Found> {
  const bucket = session.layout.bucketOf(tenant, id);
  const key = session.layout.key(bucket, "operation", tenant, id);
  const { now, values } = await session.ask(bucket, READ, [key]);
  return { stored: recordIn(values[0] ?? "", tenant, id), now };
}

function leaseText(lease: LeaseChange): string {
  if (typeof lease === "string") return lease;
  if (Number.isNaN(lease)) throw new InvalidInputError("change.lease", "must be a number.");
  return String(Math.min(Math.max(Math.ceil(lease), 0), LONGEST_LEASE_MS));
}
