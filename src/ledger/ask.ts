/**
 * A question to a person and the answers to it, as the ledger keeps them.
 *
 * @module
 */

import type { Payload } from "./codec.ts";

/** One person's answer. Only the first that arrives in time counts; all are kept. */
export interface Answer {
  readonly approve: boolean;
  readonly by: string;
  readonly at: number;
  readonly note?: string | undefined;
  readonly counted: boolean;
}

/** A question to a person, bound by `digest` to everything the person was shown. */
export interface Ask {
  readonly why: "approval" | "drift";
  /** Hash of tenant, operation, generation, all arguments, plan, policy version, expiry and nonce. */
  readonly digest: string;
  /** Makes each question another one, also when nothing else has changed. */
  readonly nonce: string;
  readonly expiresAt: number;
  readonly askedAt: number;
  /** What the person is shown: arguments, plan, side effects. Wiped once decided. */
  readonly shown?: Payload | undefined;
  readonly answers: readonly Answer[];
}
