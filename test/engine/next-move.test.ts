/** What comes after an attempt or a read, with the time and the retry budget that are left. */
import { describe, expect, test } from "vitest";
import { createBudgets } from "../../src/engine/budget.ts";
import { budgetOf } from "../../src/engine/define/settings.ts";
import { endBeforeFiring, nextMove, readsFirst } from "../../src/engine/steps/next-move.ts";
import type { StateRead } from "../../src/engine/steps/parts/decide.ts";
import { instantOf } from "../../src/lang/clock.ts";
import type { AttemptUpdate } from "../../src/ledger/record.ts";
import { type Owner, type OwnerOptions, ownerOf } from "./owner-of.ts";

/** The tool was keyed when it was fired, and it has sent the key. */
const LOST = {
  ...{ verdict: "unknown", tookKey: true, wireRequests: 1 },
  declared: { keyed: true },
} as Partial<AttemptUpdate>;
const REFUSED = { verdict: "refused", status: 503 } as const;

/** An owner with so much time left, and a budget of so many resends. */
async function opened(
  options: OwnerOptions & { readonly leftMs?: number; readonly tokens?: number } = {},
): Promise<Owner & { move(): ReturnType<typeof nextMove> }> {
  const { leftMs = 60_000, tokens = 10, ...rest } = options;
  const execution = { remainingMs: () => leftMs, ...rest.execution };
  const owner = await ownerOf({ ...rest, execution });
  const budget = budgetOf({ budget: { tokens, perSecond: 1, perSuccess: 0 } });
  const engine = { ...owner.engine, budgets: createBudgets(budget, owner.engine.clock) };
  return { ...owner, engine, move: () => nextMove(owner.owned, engine) };
}

const lookedAt = ({ engine }: Owner, reading: StateRead["reading"], again?: true) => {
  const at = engine.clock.now();
  return { reading, again, beganAt: at, wall: at, found: { reading } } as never;
};

describe("the pause before a resend", () => {
  test("doubles, and is the one that the service asks for where it does", async () => {
    const owner = await opened();
    await owner.fire(LOST);
    expect(owner.move()).toMatchObject({ tag: "fire", licence: "keyed", waitMs: 125 });
    expect(owner.move()).toMatchObject({ waitMs: 250 });
    owner.owned.retryAfterMs = 7_000;
    expect(owner.move()).toMatchObject({ waitMs: 7_000 });
  });

  test("that takes all the time is not begun: it is left as it stands", async () => {
    const owner = await opened({ leftMs: 125 });
    await owner.fire(LOST);
    const final = { do: "leave_unknown", reason: "deadline" };
    expect(owner.move()).toEqual({ tag: "settle", final });
    const longer = await opened({ leftMs: 126 });
    await longer.fire(LOST);
    expect(longer.move()).toMatchObject({ tag: "fire", waitMs: 125 });
  });

  test("is longer where the retry budget has no token yet, and the token stays reserved", async () => {
    const owner = await opened({ tokens: 1 });
    await owner.fire(LOST);
    owner.engine.budgets.reserve("order", 60_000);
    expect(owner.move()).toMatchObject({ tag: "fire", waitMs: 1_000 });
    await owner.engine.clock.advance(400);
    // Something new was known first: what is left of the wait, and no second token.
    expect(owner.move()).toMatchObject({ tag: "fire", waitMs: 600 });
    expect(owner.engine.budgets.reserve("order", 60_000)).toBe(1_600);
  });

  test("a budget without a token in time leaves it unknown, and says why", async () => {
    const owner = await opened({ tokens: 1, leftMs: 900 });
    await owner.fire(LOST);
    owner.engine.budgets.reserve("order", 60_000);
    const final = { do: "leave_unknown", reason: "budget" };
    expect(owner.move()).toEqual({ tag: "settle", final });
    expect(owner.owned.resendAt).toBeUndefined();
  });

  test("where nothing is in doubt, no time and no token is a certain no", async () => {
    const final = { do: "not_applied", reason: "refused", clears: [] };
    const late = await opened({ leftMs: 100 });
    await late.fire(REFUSED);
    expect(late.move()).toEqual({ tag: "settle", final });
    const short = await opened({ tokens: 1, leftMs: 900 });
    await short.fire(REFUSED);
    short.engine.budgets.reserve("order", 60_000);
    expect(short.move()).toEqual({ tag: "settle", final });
  });
});

describe("the pause before another read", () => {
  const READABLE = { keyed: undefined, readState: () => {}, commitsWithinMs: 2_000 };

  test("ends right after the time from which an absence is proof", async () => {
    const owner = await opened({ tool: READABLE });
    await owner.fire(LOST);
    owner.owned.lastRead = lookedAt(owner, "absent");
    expect(owner.move()).toEqual({ tag: "look_again", waitMs: 2_001 });
    await owner.engine.clock.advance(1_990);
    expect(owner.move()).toEqual({ tag: "look_again", waitMs: 100 });
  });

  test("doubles while the service is at it, and is told as that when the time is up", async () => {
    const owner = await opened({ tool: READABLE });
    await owner.fire(LOST);
    owner.owned.lastRead = lookedAt(owner, "in_progress");
    expect([owner.move(), owner.move()]).toEqual([
      { tag: "look_again", waitMs: 125 },
      { tag: "look_again", waitMs: 250 },
    ]);
    const late = await opened({ tool: READABLE, leftMs: 100 });
    await late.fire(LOST);
    late.owned.lastRead = lookedAt(late, "in_progress");
    const final = { do: "leave_unknown", reason: "in_progress" };
    expect(late.move()).toEqual({ tag: "settle", final });
  });

  test("ends as `cannot_tell` where whose effect it is does not show in time", async () => {
    const owner = await opened({ tool: READABLE });
    await owner.fire(LOST);
    owner.owned.lastRead = lookedAt(owner, "cannot_tell", true);
    expect(owner.move()).toEqual({ tag: "look_again", waitMs: 125 });
    const late = await opened({ tool: READABLE, leftMs: 100 });
    await late.fire(LOST);
    late.owned.lastRead = lookedAt(late, "cannot_tell", true);
    const final = { do: "leave_unknown", reason: "cannot_tell" };
    expect(late.move()).toEqual({ tag: "settle", final });
  });

  test("is not begun if the time is up first", async () => {
    const owner = await opened({ tool: READABLE, leftMs: 2_001 });
    await owner.fire(LOST);
    owner.owned.lastRead = lookedAt(owner, "absent");
    const final = { do: "leave_unknown", reason: "deadline" };
    expect(owner.move()).toEqual({ tag: "settle", final });
  });
});

describe("before the first attempt", () => {
  const READ_FIRST = { readState: () => {}, readFirst: true };
  const end = ({ owned, engine }: Owner) => endBeforeFiring(owned, instantOf(engine.clock), engine);

  test("the state is read where the tool asks for it, once, and only by a tool that can", async () => {
    const owner = await opened({ tool: READ_FIRST });
    owner.owned.licence = "first";
    expect(readsFirst(owner.owned, owner.engine)).toBe(true);
    owner.owned.lastRead = lookedAt(owner, "absent");
    expect(readsFirst(owner.owned, owner.engine)).toBe(false);
    const later = await opened({ tool: READ_FIRST });
    later.owned.licence = "keyed";
    expect(readsFirst(later.owned, later.engine)).toBe(false);
    const unable = await opened({ tool: { readFirst: true } });
    unable.owned.licence = "first";
    expect(readsFirst(unable.owned, unable.engine)).toBe(false);
  });

  test("what a read has found is the end: nothing is sent", async () => {
    for (const reading of ["committed", "duplicated"] as const) {
      const owner = await opened({ tool: READ_FIRST });
      owner.owned.lastRead = lookedAt(owner, reading);
      const final = { do: "commit", attempt: undefined };
      expect(end(owner)).toEqual({ tag: "settle", final });
      expect(owner.heard("warning")).toEqual([]);
    }
  });

  test("found without having been asked for, the store has forgotten it: that is told", async () => {
    const owner = await opened({ tool: { readState: () => {} } });
    owner.owned.lastRead = lookedAt(owner, "committed");
    expect(end(owner)).toMatchObject({ tag: "settle" });
    expect(owner.heard("warning")).toMatchObject([{ code: "store_forgot" }]);
  });

  test("a service that is at it already is left to it", async () => {
    const owner = await opened({ tool: READ_FIRST });
    owner.owned.lastRead = lookedAt(owner, "in_progress");
    expect(end(owner)).toEqual({ tag: "withdraw", status: "in_progress" });
  });

  test("without a caller or without time, the claim is taken back", async () => {
    const stop = new AbortController();
    const owner = await opened({ execution: { stopped: stop.signal } });
    expect(end(owner)).toBeUndefined();
    stop.abort();
    expect(end(owner)).toEqual({ tag: "withdraw", status: "not_applied" });
    expect(end(await opened({ leftMs: 0 }))).toEqual({ tag: "withdraw", status: "not_applied" });
    expect(end(await opened({ leftMs: 1 }))).toBeUndefined();
  });

  test("once it was fired, nothing is taken back any more", async () => {
    const owner = await opened({ leftMs: 0 });
    await owner.fire(LOST);
    expect(end(owner)).toBeUndefined();
  });
});
