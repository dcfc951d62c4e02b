/** What becomes of questions to a person, and of the answers: kept, replaced, expired. */
import { describe, expect, test } from "vitest";
import { apply } from "../../../src/ledger/moves/apply.ts";
import { isApproved } from "../../../src/ledger/moves/approval-question.ts";
import type { Answer, Ask, OperationRecord, State } from "../../../src/ledger/record.ts";
import { askOf, draftOf } from "../../../src/testing/record-of.ts";
import { held, refused, stored, written } from "./stored.ts";

const said = (by: string, more: Partial<Answer> = {}): Answer => ({
  approve: true,
  by,
  at: 5,
  counted: true,
  ...more,
});
const yesTo = (digest: string, more: Partial<Ask> = {}): Ask =>
  askOf({ digest, answers: [said(`approver of ${digest}`)], ...more });
const answer = { move: "answer", digest: "digest-1", approve: true, by: "ana", at: 500 } as const;
const hold = {
  move: "hold",
  draft: draftOf(),
  ask: askOf({ digest: "digest-new" }),
  at: 500,
} as const;
const heldWith = (ask: Ask, more: Partial<typeof held> = {}, record = {}) =>
  stored({ state: { ...held, ask, ...more }, attempts: [], fired: 0, ...record });

const names = (answers: readonly Answer[] | undefined) => answers?.map(({ by }) => by);

function heldIn({ state }: OperationRecord): typeof held {
  if (state.tag !== "held") throw new Error(state.tag);
  return state;
}

describe("a question that was asked while the host's clock was ahead of the store's", () => {
  const asked = askOf({ expiresAt: 1_000, skew: 100 });
  const isExpired = (ask: Ask, skew: number | undefined) => {
    const applied = apply(heldWith(ask), { ...answer, skew }, 500);
    if (applied.tag === "refused") expect(applied).toEqual(refused("expired"));
    return applied.tag === "refused";
  };

  test("expires by the wall clock too, if that has gone on while the host slept", () => {
    expect(isExpired(asked, 599)).toBe(false);
    expect(isExpired(asked, 600)).toBe(true);
  });

  test("expires by the store's clock alone if one of the two does not know the wall clock", () => {
    expect(isExpired(asked, undefined)).toBe(false);
    expect(isExpired({ ...asked, skew: undefined }, 600)).toBe(false);
  });
});

describe("a question that another one replaces", () => {
  const replaced = (ask: Ask, more: Partial<typeof held> = {}, record = {}) =>
    written(apply(heldWith(ask, more, record), hold, 500));

  test("is gone if nobody has answered it, and leaves no answers", () => {
    const record = replaced(askOf());
    expect(heldIn(record).aside).toBeUndefined();
    expect(record.answers).toBeUndefined();
  });

  test("is put aside with its yes, which no call has used yet", () => {
    const record = replaced(yesTo("digest-1"));
    expect(heldIn(record).aside).toEqual([yesTo("digest-1")]);
    expect(record.answers).toBeUndefined();
  });

  test("is closed if its yes has expired, or it is the same one: who said yes stays known", () => {
    const expired = replaced(yesTo("digest-1", { expiresAt: 500 }));
    expect(heldIn(expired).aside).toBeUndefined();
    expect(names(expired.answers)).toEqual(["approver of digest-1"]);
    const again = replaced(yesTo("digest-1"), { aside: [yesTo("digest-new")] });
    expect(heldIn(again).aside).toEqual([yesTo("digest-1")]);
    expect(names(again.answers)).toEqual(["approver of digest-new"]);
  });

  test("of which five have a yes that was not used: the oldest is closed", () => {
    const aside = ["digest-2", "digest-3", "digest-4", "digest-5"].map((one) => yesTo(one));
    const record = replaced(yesTo("digest-1"), { aside });
    expect(heldIn(record).aside?.map(({ digest }) => digest)).toEqual([
      "digest-1",
      "digest-2",
      "digest-3",
      "digest-4",
    ]);
    expect(names(record.answers)).toEqual(["approver of digest-5"]);
  });

  test("adds its answers to those of closed questions, of which the last sixteen are kept", () => {
    const answers = Array.from({ length: 16 }, (_, n) => said(`person ${n}`));
    const record = replaced(yesTo("digest-1", { expiresAt: 500 }), {}, { answers });
    expect(record.answers).toHaveLength(16);
    expect(names(record.answers)?.[0]).toBe("person 1");
    expect(names(record.answers)?.at(-1)).toBe("approver of digest-1");
  });
});

describe("a question about what is held already", () => {
  test("is doubted once the store has lost data, though it is the same question", () => {
    const suspect = { since: 1, sendsForMs: 100, declared: {} };
    const same = { ...hold, ask: askOf(), suspect };
    const record = written(apply(heldWith(askOf()), same, 500));
    expect(heldIn(record)).toMatchObject({ before: { tag: "unknown", reason: "store_lost" } });
    expect(record.attempts).toHaveLength(1);
    expect(apply({ ...stored(), record }, same, 500)).toEqual({ tag: "same" });
  });
});

describe("an answer", () => {
  test("of yes leaves the other questions as they are", () => {
    const aside = [yesTo("digest-2")];
    const state = heldIn(written(apply(heldWith(askOf(), { aside }), answer, 500)));
    expect(names(state.ask.answers)).toEqual(["ana"]);
    expect(state.aside).toEqual(aside);
  });

  test("of no closes the other questions, whose answers stay known", () => {
    const found = heldWith(yesTo("digest-1"), { aside: [yesTo("digest-2")] });
    const record = written(apply(found, { ...answer, approve: false }, 500));
    expect(names(record.answers)).toEqual(["approver of digest-2"]);
    const denied = record.state.tag === "denied" ? record.state.answers : undefined;
    expect(names(denied)).toEqual(["approver of digest-1", "ana"]);
  });

  test("that comes after a no is kept, also where no answer was kept before", () => {
    const state: State = { tag: "denied", by: "ben", digest: "digest-1" };
    const record = written(apply(stored({ state }), answer, 500));
    expect(record.state).toMatchObject({ answers: [{ by: "ana", counted: false }] });
    expect(record.state).toHaveProperty("answers.length", 1);
  });

  test("is kept with the fifteen before it, beyond that the oldest that counts for nothing goes", () => {
    const others = Array.from({ length: 15 }, (_, n) => said(`person ${n}`, { counted: n === 0 }));
    const full = heldIn(written(apply(heldWith(askOf({ answers: others })), answer, 500))).ask;
    expect(names(full.answers)).toEqual([...others.map(({ by }) => by), "ana"]);
    const more = heldIn(written(apply(heldWith(full), { ...answer, by: "ben" }, 500))).ask;
    const left = others.map(({ by }) => by).filter((by) => by !== "person 1");
    expect(names(more.answers)).toEqual([...left, "ana", "ben"]);
  });

  test("lets a claim fire only if it is a yes that counts", () => {
    const isYes = (one: Answer) => isApproved(askOf({ answers: [one] }));
    expect(isYes(said("ana"))).toBe(true);
    expect(isYes(said("ana", { counted: false }))).toBe(false);
    expect(isYes(said("ana", { approve: false }))).toBe(false);
  });
});
