import fc from "fast-check";
import type { Move } from "../../src/ledger/moves/moves.ts";
import {
  type AttemptNote,
  type AttemptUpdate,
  type Evidence,
  isOpen,
  type OperationRecord,
  type State,
  type Stored,
} from "../../src/ledger/record.ts";
import { askOf, claimOf, draftOf, EVERY_STATE, recordOf } from "../../src/testing/record-of.ts";

/** Small ranges, so that moves and records often speak of the same thing. */
const time = fc.integer({ min: 0, max: 200 });
const epoch = fc.integer({ min: 0, max: 4 });
const holder = fc.constantFrom("holder-1", "holder-2", "holder-3");
const digest = fc.constantFrom("digest-1", "digest-2");
const person = fc.constantFrom("ana", "bo");
const verdict = fc.constantFrom("committed", "not_sent", "refused", "rejected", "unknown");
const licence = fc.constantFrom("first", "not_sent", "refused", "absent", "keyed", "person");
const attemptNumber = fc.integer({ min: 1, max: 4 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });
const payload = fc.constant({ form: "json", text: '{"id":1}' } as const);
const fingerprint = fc.constantFrom("fingerprint-1", "fingerprint-1", "fingerprint-2");

const draft = fingerprint.map((text) => draftOf({ fingerprint: text }));

const ask = fc
  .record({
    digest,
    expiresAt: time,
    answers: fc.array(
      fc.record({ approve: fc.boolean(), by: person, at: time, counted: fc.boolean() }),
      { maxLength: 18 },
    ),
  })
  .map(askOf);

const newAsk = fc.record({ digest, expiresAt: time }).map(askOf);

const notApplied = fc.record({
  tag: fc.constant("not_applied" as const),
  reason: fc.constantFrom("rejected", "not_sent", "refused", "absent", "resolved", "aborted"),
  keyRejected: maybe(fc.boolean()),
});

const committed = fc.record({
  tag: fc.constant("committed" as const),
  via: fc.constantFrom("reply", "read", "late", "person"),
  attempt: maybe(attemptNumber),
  effectId: maybe(fc.constantFrom("e1", "e2")),
  payload: maybe(payload),
});

const unknown = fc.record({
  tag: fc.constant("unknown" as const),
  reason: fc.constantFrom("lost_reply", "deadline", "owner_lost"),
});

const held = fc.record({ tag: fc.constant("held" as const), ask, before: maybe(notApplied) });

const state: fc.Arbitrary<State> = fc.oneof(
  fc.constantFrom(...EVERY_STATE),
  held,
  notApplied,
  committed,
  unknown,
  fc.record({
    tag: fc.constant("claimed" as const),
    holder,
    before: maybe(fc.oneof(held, notApplied, unknown)),
    beforeAt: maybe(time),
  }),
);

const attempt: fc.Arbitrary<AttemptNote> = fc.record({
  n: attemptNumber,
  epoch,
  generation: fc.integer({ min: 0, max: 2 }),
  licence,
  at: time,
  endedAt: maybe(time),
  verdict: maybe(verdict),
  cleared: maybe(fc.constantFrom("absent", "person")),
});

export const evidence: fc.Arbitrary<Evidence> = fc.record({
  attempt: attemptNumber,
  epoch,
  at: time,
  verdict,
  effectId: maybe(fc.constantFrom("e1", "e2")),
});

const updates: fc.Arbitrary<AttemptUpdate[]> = fc.array(
  fc.record({ n: attemptNumber, verdict: maybe(verdict), endedAt: maybe(time) }),
  { maxLength: 3 },
);

/** Any record at all, also one that no sequence of moves leads to. */
export const anyStored: fc.Arbitrary<Stored | undefined> = maybe(
  fc
    .record({
      state,
      stateAt: time,
      epoch,
      generation: fc.integer({ min: 0, max: 3 }),
      attempts: fc.array(attempt, { maxLength: 36 }),
      evidence: fc.array(evidence, { maxLength: 18 }),
      version: fc.integer({ min: 1, max: 9 }),
      leaseUntil: maybe(time),
    })
    .map(({ version, leaseUntil, ...rest }) => {
      const intent = isOpen(rest.state) ? recordOf().intent : undefined;
      const record: OperationRecord = recordOf({ ...rest, intent, fired: rest.attempts.length });
      return { record, version, leaseUntil };
    }),
);

const claimMove = fc
  .record({
    draft,
    holder,
    leaseMs: time,
    cooldownMs: time,
    retry: fc.boolean(),
    powerless: fc.boolean(),
    spend: maybe(digest),
    at: time,
  })
  .map(claimOf);

export const anyMove: fc.Arbitrary<Move> = fc.oneof(
  { weight: 3, arbitrary: claimMove },
  fc.record({
    move: fc.constant("note" as const),
    epoch,
    holder,
    licence,
    updates,
    leaseMs: time,
    at: time,
  }),
  fc.record({ move: fc.constant("renew" as const), epoch, holder, leaseMs: time }),
  {
    weight: 2,
    arbitrary: fc.record({
      move: fc.constant("settle" as const),
      epoch,
      holder,
      state: fc.oneof(committed, notApplied, unknown),
      updates,
      dedupes: maybe(fc.boolean()),
      at: time,
    }),
  },
  fc.record({ move: fc.constant("file" as const), evidence, dedupes: fc.boolean(), at: time }),
  fc.record({ move: fc.constant("withdraw" as const), holder, at: time }),
  fc.record({ move: fc.constant("hold" as const), draft, ask: newAsk, at: time }),
  fc.record({
    move: fc.constant("answer" as const),
    digest,
    approve: fc.boolean(),
    by: person,
    at: time,
  }),
  fc.record({
    move: fc.constant("resolve" as const),
    as: fc.constantFrom("committed" as const, "not_applied" as const),
    by: person,
    at: time,
  }),
  fc.record({
    move: fc.constant("meet" as const),
    told: fc.constantFrom("unknown" as const, "committed" as const, "not_applied" as const),
    aliases: fc.array(fc.constantFrom("call_1", "call_2"), { maxLength: 3 }),
    run: maybe(fc.constantFrom("run-1", "run-2")),
  }),
  fc.record({
    move: fc.constant("doubt" as const),
    attempt: fc.integer({ min: 1, max: 4 }),
    why: fc.constant("late_send" as const),
    endsBy: time,
    at: time,
  }),
  fc.record({
    move: fc.constant("doubt" as const),
    attempt: fc.integer({ min: 1, max: 4 }),
    why: fc.constant("unvetoable" as const),
  }),
);

/** Moves as they come one after the other, each with the time that passed before it. */
export const anyStory: fc.Arbitrary<{ readonly move: Move; readonly pauseMs: number }[]> = fc.array(
  fc.record({ move: anyMove, pauseMs: fc.integer({ min: 0, max: 80 }) }),
  {
    minLength: 1,
    maxLength: 25,
  },
);
