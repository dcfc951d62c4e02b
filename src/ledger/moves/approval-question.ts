/**
 * An approval question: what a person is asked before an operation may be fired, and the answers, as
 * the ledger keeps them.
 *
 * @module
 */

import type { Payload } from "../codec/codec.ts";

/** One person's answer. The first yes counts; a no counts until something is sent. All are recorded. */
export interface Answer {
  readonly approve: boolean;
  readonly by: string;
  readonly at: number;
  readonly note?: string | undefined;
  readonly counted: boolean;
}

/** A question to a person, bound by `digest` to what the person agrees to. */
export interface Ask {
  /** `approval`: the tool is destructive, whether or not the call also drifts. `drift`: it only drifts. What it drifts from is in `shown`. */
  readonly why: "approval" | "drift";
  /**
   * Hash of tenant, operation, generation, all arguments, `alsoDoes`, definition, plan, policy version, expiry, nonce and
   * `insteadOf`.
   */
  readonly digest: string;
  /** Makes each question different from the last, even when nothing else has changed. */
  readonly nonce: string;
  /** An operation in whose place this one passes with a yes, and what was known of it. Part of the digest. */
  readonly insteadOf?: string | undefined;
  readonly expiresAt: number;
  readonly askedAt: number;
  /** How far the wall clock was ahead of the store's when it was asked: a second clock to count from then. */
  readonly skew?: number | undefined;
  /** What the person is shown: arguments, plan, side effects. Wiped once decided. */
  readonly shown?: Payload | undefined;
  readonly answers: readonly Answer[];
}

/** The operation waits for a person's answer. Nothing was sent since; if `before` is `unknown`, something may have been earlier. */
export interface Held<Before> {
  readonly tag: "held";
  readonly ask: Ask;
  /** Earlier questions with a yes that no call has used yet; each covers what it showed. */
  readonly aside?: readonly Ask[] | undefined;
  /** The state the operation was in before it was called again: not applied, or unknown. */
  readonly before?: Before | undefined;
}

/** A person said no. Final. */
export interface Denied {
  readonly tag: "denied";
  readonly by: string;
  readonly note?: string | undefined;
  /** The question it answers. */
  readonly digest?: string | undefined;
  /** Every answer given: a yes before the no, and answers that came too late. */
  readonly answers?: readonly Answer[] | undefined;
}

export const MAX_ANSWERS_KEPT = 16;
const MAX_ASIDE = 4;

/** Whether a yes to it counts. */
export const isApproved = ({ answers }: Ask): boolean =>
  answers.some(({ counted, approve }) => counted && approve);

type Asks = Pick<Held<unknown>, "ask" | "aside">;

/** All open questions, the one that waits for an answer first. */
export const asksOf = ({ ask, aside = [] }: Asks): readonly Ask[] => [ask, ...aside];

/** The open question with this digest, if any. */
export const questionOf = (asks: Asks, digest: string | undefined): Ask | undefined =>
  asksOf(asks).find((one) => one.digest === digest);

/** By the store's clock or by the wall clock, whichever shows more: the host may have slept. */
export const hasExpired = (
  { expiresAt, skew }: Pick<Ask, "expiresAt" | "skew">,
  now: number,
  wall: number | undefined,
): boolean =>
  now >= expiresAt || (skew !== undefined && wall !== undefined && wall - skew >= expiresAt);

/** The wall clock of whoever makes a move. */
export const wallOf = ({
  at,
  skew,
}: {
  readonly at: number;
  readonly skew?: number | undefined;
}): number | undefined => (skew === undefined ? undefined : at + skew);

/** The questions to keep when `next` replaces the current one: those with a yes that is still usable. */
export function setAside(
  asks: Asks,
  next: Ask,
  isOver: (ask: Ask) => boolean,
): readonly Ask[] | undefined {
  const usable = asksOf(asks).filter(
    (one) => isApproved(one) && !isOver(one) && one.digest !== next.digest,
  );
  return usable.length > 0 ? usable.slice(0, MAX_ASIDE) : undefined;
}

/** Drops the oldest answers, but never one that counts: a later one would count in its place. */
export function keepAnswers(answers: readonly Answer[]): readonly Answer[] {
  if (answers.length <= MAX_ANSWERS_KEPT) return answers;
  const oldest = answers.findIndex(({ counted }) => !counted);
  return answers.toSpliced(Math.max(oldest, 0), 1);
}
