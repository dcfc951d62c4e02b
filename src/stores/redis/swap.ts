/**
 * Changes one record by compare-and-swap: one script, in which record, index, lease and lane change
 * together or not at all.
 *
 * @module
 */

import { nextTick } from "node:process";
import { InvalidInputError } from "../../errors.ts";
import { soon } from "../../lang/clock.ts";
import type { Change, Found, LeaseChange, Swapped } from "../../ledger/store.ts";
import { releaseEffects } from "./effects.ts";
import { type Kind, laneIn, recordIn, recordText } from "./layout.ts";
import { type Answer, READ, type Session } from "./session.ts";
import { SWAP, SWAP_IN_CLUSTER } from "./swap-script.ts";

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
      const { id, record, expect, stamp, lane } = change;
      keys.push(key);
      args.push(stamp === undefined ? String(expect) : `${expect}|${stamp}`, lease, text);
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
    return { ok: true, version: record ? version : 0, leaseUntil, stamp: nonce, now, sequence };
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

interface Waiting {
  readonly job: Job;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** One is under work while the other is on its way: with more, jobs wait for each other. */
const AT_ONCE = 2;
/** About 0.2 ms, in which the server does nothing else. */
const MAX_JOBS = 16;

/**
 * Jobs of the same name that are asked for at the same time go out as one script: to send a command and to read its
 * answer costs client and server more than the change itself. `isRefusal` tells that the server has answered, with an error.
 */
function createTogether(
  run: (jobs: readonly Job[]) => Promise<readonly Answer[]>,
  isRefusal: (error: unknown) => boolean,
): (name: string, job: Job) => Promise<Answer> {
  let waiting = new Map<string, Waiting[]>();
  /** How many scripts are on their way. */
  let running = 0;

  async function send(group: readonly Waiting[]): Promise<void> {
    running += 1;
    try {
      const answers = await run(group.map(({ job }) => job));
      for (const [place, { resolve }] of group.entries()) resolve(answers[place] as Answer);
    } catch (error) {
      // One of several is to blame. Those that were made already are known by their nonces.
      const goAlone = group.length > 1 && isRefusal(error);
      for (const one of group) goAlone ? void send([one]) : one.reject(error);
    }
    running -= 1;
  }

  function sendAll(): void {
    const groups = waiting;
    waiting = new Map();
    for (const group of groups.values()) void send(group);
  }

  /**
   * Jobs go when all that waits to run has run: those whose callers were answered by one script come together, and go on
   * together. While others are on their way the turn of the event loop ends first.
   */
  return (name, job) =>
    new Promise((resolve, reject) => {
      if (waiting.size === 0) (running < AT_ONCE ? nextTick : soon)(sendAll);
      const group = waiting.get(name) ?? [];
      waiting.set(name, group);
      if (group.push({ job, resolve, reject }) < MAX_JOBS) return;
      waiting.delete(name);
      void send(group);
    });
}
