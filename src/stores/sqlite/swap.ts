/**
 * One compare-and-swap, inside a transaction that others share.
 *
 * The two that every call makes, claim and settle, go by the shortest way. The rest looks first.
 *
 * @module
 */

import { hashOf } from "./hash.ts";
import type { SwapDone, SwapJob } from "./job.ts";
import type { Lying } from "./operations.ts";
import type { Parts } from "./payloads.ts";
import { NO_PARTS } from "./payloads.ts";
import type { Tables, Turn } from "./tables.ts";

export function swap(tables: Tables, job: SwapJob, turn: Turn): SwapDone {
  const isPlain = job.row !== undefined && job.lane === undefined && job.lease !== "keep";
  const tenant = tables.tenants.ensure(job.tenant);
  return (
    (isPlain && writePlain(tables, job, tenant, turn)) || writeChecked(tables, job, tenant, turn)
  );
}

/** Claims or settles in one go. `undefined`: something is in the way, or there is more to do. */
function writePlain(
  { operations, payloads }: Tables,
  job: SwapJob,
  tenant: number,
  turn: Turn,
): SwapDone | undefined {
  const { row, expect } = job;
  if (!row) return undefined;
  const version = turn.upcoming();
  const lease = leaseAfter(job, null, turn.now);
  const parts = payloads.place(row.payload);
  const write = { row, version, lease, parts };
  const isWritten =
    expect === 0
      ? operations.append(job, tenant, write)
      : operations.overwrite(job, tenant, expect, write);
  if (!isWritten) return undefined;
  turn.take();
  payloads.write(parts, row.payload);
  return { ok: true, version, lease, sequence: version, now: turn.now };
}

function writeChecked(tables: Tables, job: SwapJob, tenant: number, turn: Turn): SwapDone {
  const { operations, lanes } = tables;
  const { now } = turn;
  const lying = operations.find(job, tenant);
  const refuse = (lane?: (SwapDone & { ok: false })["lane"]): SwapDone => {
    return { ok: false, current: lying && operations.whole(lying), lane, now };
  };
  if ((lying?.version ?? 0) !== job.expect) return refuse();
  if (job.lane) {
    const there = lanes.find(tenant, job.lane.name);
    if ((there?.version ?? 0) !== job.lane.expect) return refuse(there ?? "gone");
  }
  const sequence = turn.upcoming();
  turn.take();
  if (job.lane) lanes.put(tenant, job.lane.name, job.lane.text, sequence);
  if (!job.row) {
    if (lying) remove(tables, job.tenant, lying);
    return { ok: true, version: 0, lease: null, sequence, now };
  }
  const lease = leaseAfter(job, lying?.lease ?? null, now);
  const parts = renewPayload(tables, lying?.parts ?? NO_PARTS, job.row.payload);
  const write = { row: job.row, version: sequence, lease, parts };
  if (lying) operations.update(lying.seq, write);
  else operations.append(job, tenant, write);
  return { ok: true, version: sequence, lease, sequence, now };
}

/** Removes an operation, and all that was its. */
export function remove(
  { operations, payloads, effects }: Tables,
  tenant: string,
  lying: Lying,
): void {
  operations.remove(lying.seq, hashOf(tenant, lying.id));
  payloads.remove(lying.parts);
  effects.release(tenant, lying.tenant, lying.id);
}

/** A payload that stays the same stays where it is. */
function renewPayload({ payloads }: Tables, old: Parts, text: string | undefined): Parts {
  if (old.first !== null && payloads.read(old) === text) return old;
  payloads.remove(old);
  const parts = payloads.place(text);
  payloads.write(parts, text);
  return parts;
}

function leaseAfter({ lease }: SwapJob, current: number | null, now: number): number | null {
  if (lease === "keep") return current;
  return lease === "none" ? null : now + lease;
}
