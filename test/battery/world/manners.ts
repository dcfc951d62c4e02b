/**
 * How people write `run`. Each way makes the one request that is the effect, where the wire token can see it, and
 * does something with the answer that a user's code does: it swallows it, loses it, or does not wait for it.
 */

import type { Answered } from "./network.ts";
import { type Reply, type Result, resultOf } from "./reply.ts";

export const MANNERS = [
  "plain", // throws unless it was answered 2xx
  "swallows", // returns a value whatever the status is
  "catches", // returns a value whatever happens
  "wraps", // throws an error of its own, without a cause
  "leaves", // does not wait for the answer
  "gives-up", // stops waiting for it after a while
  "late-branch", // sends it after another request has failed, and with it `run`
  "notifies", // makes another write first, which succeeds
  "other-way", // does it in a thread, and then a request fails
  "queued", // is sent by a queue, in the async context of another attempt
] as const;

export type Manner = (typeof MANNERS)[number];

/** Manners in which the tool's word is what the service said. */
const FAITHFUL: ReadonlySet<Manner> = new Set(["plain", "notifies"]);

export const distorts = (manner: Manner): boolean => !FAITHFUL.has(manner);

/** What a `run` can do. */
export interface Means {
  /** The request that is the effect. */
  pay(): Promise<Answered>;
  /** The same, out of sight of the wire token. */
  payUnseen(): Promise<unknown>;
  notify(how: number | "refused"): Promise<unknown>;
  startThread(): void;
  enqueue<T>(job: () => Promise<T>): Promise<T>;
  wait(ms: number): Promise<void>;
  /** Drawn anew for each attempt. */
  between(low: number, high: number): number;
}

const NOTHING = {} as Result;

export async function behave(manner: Manner, means: Means): Promise<Result> {
  switch (manner) {
    case "plain":
      return okValue(await means.pay());
    case "swallows": {
      const answered = await means.pay();
      return answered.status === 200 ? okValue(answered) : NOTHING;
    }
    case "catches":
      return means
        .pay()
        .then(okValue)
        .catch(() => NOTHING);
    case "wraps":
      return means
        .pay()
        .then(okValue)
        .catch(() => Promise.reject(new Error("it failed")));
    case "leaves":
      means.pay().catch(() => {});
      return NOTHING;
    case "gives-up": {
      const paid = means.pay().then(okValue);
      paid.catch(() => {});
      const tooLong = means.wait(means.between(20, 500)).then(() => {
        throw new DOMException("too long", "TimeoutError");
      });
      return Promise.race([paid, tooLong]);
    }
    case "late-branch": {
      const paid = means.wait(means.between(60, 900)).then(means.pay).then(okValue);
      paid.catch(() => {});
      await means.notify(means.between(0, 1) === 0 ? "refused" : 404).then(mustBeOk);
      return paid;
    }
    case "notifies":
      await means.notify(200);
      await means.wait(means.between(0, 2) * 900);
      return okValue(await means.pay());
    case "other-way":
      means.startThread();
      await means.payUnseen().catch(() => {});
      await means.notify("refused");
      return NOTHING;
    case "queued":
      return okValue(await means.enqueue(means.pay));
  }
}

function okValue({ status, answer }: Answered): Result {
  mustBeOk({ status });
  return resultOf(answer as Extract<Reply, { said: "yes" }>) as Result;
}

function mustBeOk(answered: unknown): void {
  const { status } = answered as Answered;
  if (status !== 200) throw Object.assign(new Error(`HTTP ${status}`), { status });
}
