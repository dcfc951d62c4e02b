import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Decision, decide, type Situation } from "../../src/engine/steps/parts/decide.ts";
import { type AttemptNote, isCleared } from "../../src/ledger/record.ts";

/** Fixed, so that a failure repeats. */
const RUNS = { seed: 20_261_116, numRuns: 5_000 };

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const time = fc.integer({ min: 0, max: 200 });

const attempts: fc.Arbitrary<readonly AttemptNote[]> = fc
  .array(
    fc.record({
      epoch: fc.integer({ min: 1, max: 2 }),
      generation: fc.integer({ min: 0, max: 1 }),
      licence: fc.constantFrom("first", "not_sent", "keyed" as const),
      at: time,
      endedAt: maybe(time),
      endsBy: maybe(time),
      verdict: maybe(
        fc.constantFrom("committed", "not_sent", "refused", "rejected", "unknown" as const),
      ),
      status: maybe(fc.constantFrom(200, 404, 500)),
      tookKey: maybe(fc.boolean()),
      tookPrecondition: maybe(fc.boolean()),
      declared: maybe(fc.record({ keyed: fc.boolean(), conditional: fc.boolean() })),
      unverified: maybe(fc.constant(true)),
      accepted: maybe(fc.constant(true)),
      innerOnly: maybe(fc.boolean()),
      cleared: maybe(fc.constantFrom("absent", "person" as const)),
    }),
    { maxLength: 4 },
  )
  // A composite's yes is its own: of inner operations only failures speak.
  .map((notes) =>
    notes.map((note, index) => {
      const innerOnly = note.unverified || note.accepted ? undefined : note.innerOnly;
      return { ...note, innerOnly, n: index + 1 } as AttemptNote;
    }),
  );

const situations: fc.Arbitrary<Situation> = fc.record({
  powers: fc.record({
    keyedForMs: maybe(fc.integer({ min: 1, max: 300 })),
    conditional: fc.boolean(),
    precondition: fc.constantFrom("read", "given" as const),
    reader: fc.boolean(),
    commitsWithinMs: maybe(time),
    readerBlind: fc.boolean(),
    keyUnused: fc.boolean(),
    attemptTimeoutMs: fc.integer({ min: 1, max: 50 }),
  }),
  attempts,
  epoch: fc.constant(2),
  generation: fc.integer({ min: 0, max: 1 }),
  lastRead: maybe(
    fc.record({
      reading: fc.constantFrom(
        "committed",
        "absent",
        "in_progress",
        "duplicated",
        "cannot_tell" as const,
      ),
      beganAt: fc.integer({ min: 0, max: 500 }),
    }),
  ),
  now: fc.integer({ min: 0, max: 500 }),
  firesLeft: fc.integer({ min: -1, max: 2 }),
  sameArguments: fc.boolean(),
  whyNotFire: maybe(fc.constantFrom("stopped", "lease_lost", "store_down" as const)),
  keySpent: fc.boolean(),
}) as fc.Arbitrary<Situation>;

const check = (property: (given: Situation, decision: Decision) => void): void =>
  fc.assert(
    fc.property(situations, (given) => property(given, decide(given))),
    RUNS,
  );

const saidYesUnconfirmed = ({ unverified, accepted }: AttemptNote): boolean =>
  unverified === true || accepted === true;

const doubtsIn = ({ attempts: notes }: Situation): readonly AttemptNote[] =>
  notes.filter((note) => !isCleared(note) && note.verdict !== "committed");

const clearsOf = (decision: Decision): readonly number[] =>
  "clears" in decision ? decision.clears : [];

/** keyed, said once more: the service recognises the repetition of every doubtful attempt. */
function keyVouchesFor(given: Situation, doubts: readonly AttemptNote[]): boolean {
  const { powers, generation, now, attempts: notes } = given;
  if (doubts.some(saidYesUnconfirmed) || notes.at(-1)?.verdict === "rejected") return false;
  const sentPrecondition = doubts.every(
    ({ declared, tookPrecondition }) =>
      declared?.conditional && (powers.precondition === "given" || tookPrecondition !== false),
  );
  if (powers.conditional && sentPrecondition) return true;
  if (powers.keyedForMs === undefined || powers.keyUnused || given.keySpent) return false;
  if (doubts.some(({ declared, tookKey }) => !declared?.keyed || tookKey === false)) return false;
  if (doubts.some((note) => note.generation !== generation)) return false;
  const first = Math.min(...notes.filter((n) => n.generation === generation).map(({ at }) => at));
  return now <= first + powers.keyedForMs * 0.95 - powers.attemptTimeoutMs;
}

/** absent, said once more: the look began after the service could still commit any of them. */
function absenceProves(given: Situation, cleared: readonly AttemptNote[]): boolean {
  const { lastRead, powers } = given;
  const window = powers.commitsWithinMs;
  if (lastRead?.reading !== "absent" || window === undefined || powers.readerBlind) return false;
  return cleared.every((note) => {
    const end = note.endedAt ?? note.endsBy;
    return !saidYesUnconfirmed(note) && end !== undefined && lastRead.beganAt > end + window;
  });
}

describe("whatever the situation", () => {
  test("it never fires with a doubt, unless a key or precondition vouches for it, an absence proves, or all of it was inner", () => {
    check((given, decision) => {
      if (decision.do !== "fire") return;
      const cleared = clearsOf(decision);
      const left = doubtsIn(given).filter(({ n }) => !cleared.includes(n));
      if (left.length === 0) return;
      const inner = left.every(({ innerOnly, epoch }) => innerOnly && epoch !== given.epoch);
      expect((decision.licence === "keyed" && keyVouchesFor(given, left)) || inner).toBe(true);
    });
  });

  test("it never gives up with a doubt that it does not clear", () => {
    check((given, decision) => {
      if (decision.do !== "not_applied") return;
      const open = doubtsIn(given).filter(({ n }) => !decision.clears.includes(n));
      expect(open).toEqual([]);
    });
  });

  test("it clears only what an absence in time proves", () => {
    check((given, decision) => {
      const cleared = given.attempts.filter(({ n }) => clearsOf(decision).includes(n));
      if (cleared.length > 0) expect(absenceProves(given, cleared)).toBe(true);
    });
  });

  test("it fires nothing when nobody waits, the lease or the store is gone, no firing is left, or the arguments differ", () => {
    check((given, decision) => {
      if (decision.do !== "fire") return;
      expect(given.whyNotFire).toBeUndefined();
      expect(given.firesLeft).toBeGreaterThan(0);
      expect(given.sameArguments).toBe(true);
    });
  });

  test("it fires nothing after a yes", () => {
    check((given, decision) => {
      const yes = given.attempts.some(
        (note) => note.verdict === "committed" || (saidYesUnconfirmed(note) && !isCleared(note)),
      );
      if (yes) expect(decision.do).not.toBe("fire");
    });
  });

  test("a known commit is never anything else", () => {
    check((given, decision) => {
      const answered = given.attempts.some(({ verdict }) => verdict === "committed");
      const seen =
        given.lastRead?.reading === "committed" || given.lastRead?.reading === "duplicated";
      if (answered || (seen && doubtsIn(given).length > 0)) expect(decision.do).toBe("commit");
    });
  });

  test("it is certain or it is unknown: a doubt that remains is a lastRead, a resend or a hold", () => {
    check((given, decision) => {
      const open = doubtsIn(given).filter(({ n }) => !clearsOf(decision).includes(n));
      if (open.length > 0)
        expect(["read", "fire", "leave_unknown", "commit"]).toContain(decision.do);
    });
  });

  test("it is a function: the same situation, the same decision, and nothing is changed", () => {
    check((given, decision) => {
      expect(decide(structuredClone(given))).toEqual(decision);
    });
  });
});
