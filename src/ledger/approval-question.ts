/**
 * A question to a person and the answers to it, as the ledger keeps them.
 *
 * @module
 */

import type { Payload } from "./codec.ts";

/** One person's answer. The first yes counts, and a no as long as nothing was sent; all are kept. */
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

/** A person is asked; proves that nothing was sent. */
export interface Held<Before> {
  readonly tag: "held";
  readonly ask: Ask;
  /** Questions with a yes that another call of the operation has not used up: good for what they showed. */
  readonly aside?: readonly Ask[] | undefined;
  /** What was settled before it was asked for again. */
  readonly before?: Before | undefined;
}

/** A no, which is final. */
export interface Denied {
  readonly tag: "denied";
  readonly by: string;
  readonly note?: string | undefined;
  /** The question it answers. */
  readonly digest?: string | undefined;
  /** All that was answered: the yes before it, and what came too late. */
  readonly answers?: readonly Answer[] | undefined;
}

export const MAX_ANSWERS_KEPT = 16;
const MAX_ASIDE = 4;

/** The first yes to it counts, and no other. */
export const isApproved = ({ answers }: Ask): boolean =>
  answers.some(({ counted, approve }) => counted && approve);

type Asks = Pick<Held<unknown>, "ask" | "aside">;

/** All questions that stand, the one that waits first. */
export const asksOf = ({ ask, aside = [] }: Asks): readonly Ask[] => [ask, ...aside];

/** The question of this digest, if it stands. */
export const questionOf = (asks: Asks, digest: string | undefined): Ask | undefined =>
  asksOf(asks).find((one) => one.digest === digest);

/** Another question takes its place; a yes that can still be used is not lost by that. */
export function setAside(asks: Asks, next: Ask, now: number): readonly Ask[] | undefined {
  const usable = asksOf(asks).filter(
    (one) => isApproved(one) && now < one.expiresAt && one.digest !== next.digest,
  );
  return usable.length > 0 ? usable.slice(0, MAX_ASIDE) : undefined;
}

/** The oldest go first, but never one that counts: else the next would count instead. */
export function keepAnswers(answers: readonly Answer[]): readonly Answer[] {
  if (answers.length <= MAX_ANSWERS_KEPT) return answers;
  const oldest = answers.findIndex(({ counted }) => !counted);
  return answers.toSpliced(Math.max(oldest, 0), 1);
}
