/**
 * Records, drafts and moves for tests: complete and plain; a test names only what matters to it.
 *
 * @module
 */

import type { Draft, Move } from "../ledger/moves/moves.ts";
import type { Ask, Evidence, Identity, OperationRecord, State } from "../ledger/record.ts";

/** A claim, as a move. */
export type ClaimMove = Extract<Move, { move: "claim" }>;

export const draftOf = (
  identity: Partial<Identity> = {},
  rest: Partial<Omit<Draft, "identity">> = {},
): Draft => ({
  identity: {
    tenant: "acme",
    id: "operation-1",
    tool: "refund_payment",
    service: "payments",
    scope: "conversation-7/turn-3",
    fingerprint: "fingerprint-1",
    ...identity,
  },
  argsHash: "arguments-1",
  fields: { amount: "hash-of-amount" },
  intent: { form: "json", text: '{"amount":400}' },
  aliases: [],
  ...rest,
});

/** A first claim by `holder-1`, for a minute, at time 0. */
export const claimOf = (overrides: Partial<Omit<ClaimMove, "move">> = {}): ClaimMove => ({
  move: "claim",
  draft: draftOf(),
  holder: "holder-1",
  leaseMs: 60_000,
  cooldownMs: 30_000,
  retry: false,
  powerless: false,
  at: 0,
  ...overrides,
});

export const askOf = (overrides: Partial<Ask> = {}): Ask => ({
  why: "approval",
  digest: "digest-1",
  nonce: "nonce-1",
  expiresAt: 86_400_000,
  askedAt: 0,
  shown: { form: "json", text: '{"plan":"shown"}' },
  answers: [],
  ...overrides,
});

export const evidenceOf = (overrides: Partial<Evidence> = {}): Evidence => ({
  attempt: 1,
  epoch: 1,
  at: 0,
  verdict: "committed",
  ...overrides,
});

/** A record as a first claim leaves it, fired once. */
export const recordOf = (overrides: Partial<OperationRecord> = {}): OperationRecord => {
  const { identity, ...rest } = draftOf();
  return {
    ...identity,
    ...rest,
    state: { tag: "claimed", holder: "holder-1" },
    stateAt: 0,
    createdAt: 0,
    epoch: 1,
    generation: 0,
    runs: [],
    attempts: [{ n: 1, epoch: 1, generation: 0, licence: "first", at: 0 }],
    fired: 1,
    evidence: [],
    ...overrides,
  };
};

/** One of every state, with all its fields filled. */
export const EVERY_STATE: readonly State[] = [
  {
    tag: "held",
    ask: askOf({
      answers: [{ approve: true, by: "ana", at: 5, note: "fine", counted: true }],
    }),
    aside: [askOf({ digest: "digest-0" })],
    before: { tag: "not_applied", reason: "refused" },
  },
  {
    tag: "claimed",
    holder: "holder-1",
    before: { tag: "unknown", reason: "owner_lost" },
    beforeAt: 3,
  },
  { tag: "unknown", reason: "unverified", payload: { form: "json", text: '{"kept":true}' } },
  {
    tag: "committed",
    effect: "created",
    via: "reply",
    attempt: 2,
    payload: { form: "json", text: '{"id":"re_1"}', sealedWith: "key-1" },
    effectId: "re_1",
    by: "ana",
    note: "seen in the dashboard",
  },
  {
    tag: "not_applied",
    reason: "rejected",
    rejection: { status: 402, code: "card_declined" },
    keyRejected: true,
    by: "ana",
    note: "declined",
  },
  {
    tag: "denied",
    by: "ana",
    note: "not this one",
    digest: "digest-1",
    answers: [{ approve: false, by: "ana", at: 5, note: "not this one", counted: true }],
  },
];
