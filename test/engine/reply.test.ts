import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/engine/operation/outcome.ts";
import { replyOf } from "../../src/engine/outcome/reply.ts";

const COMMON = {
  tool: "refund",
  id: "operation-1",
  key: "key-1",
  replayed: false,
  recorded: true,
  attempts: 1,
  at: Date.UTC(2026, 10, 16, 4),
};

const of = (rest: object): Outcome<unknown> => ({ ...COMMON, ...rest }) as Outcome<unknown>;

describe("the envelope", () => {
  test.each([
    [
      { status: "committed", result: { id: 1 }, effect: "created" },
      {
        ok: true,
        outcome: "committed",
        effect: "created",
        replayed: false,
        data: { id: 1 },
        operation: "operation-1",
        message: "Done. Do not call again for the same request.",
      },
    ],
    [
      { status: "committed", result: 1, effect: "noop", replayed: true },
      {
        ok: true,
        effect: "noop",
        replayed: true,
        data: 1,
        message:
          "Already done at 2026-11-16T04:00:00.000Z; nothing was sent this time. Do not call again. If it is wanted once more, a person must ask for it in a new message.",
      },
    ],
    [
      { status: "committed", resultLost: true, effect: "noop", replayed: true },
      {
        ok: true,
        message:
          "Already done at 2026-11-16T04:00:00.000Z; nothing was sent this time. Its result was not kept. Do not call again. If it is wanted once more, a person must ask for it in a new message.",
      },
    ],
    [
      { status: "not_applied", reason: "rejected", rejection: { status: 402, code: "declined" } },
      {
        ok: false,
        effect: "noop",
        message:
          "The service said no (402 declined). Nothing happened. The same call gets the same answer.",
      },
    ],
    [
      { status: "not_applied", reason: "rejected" },
      {
        message: "The service said no. Nothing happened. The same call gets the same answer.",
      },
    ],
    [
      { status: "not_applied", reason: "aborted" },
      { message: "It was stopped before anything was sent." },
    ],
    [{ status: "not_applied", reason: "not_sent" }, { message: "It was not sent." }],
    [
      { status: "not_applied", reason: "refused", answered: 429 },
      { message: "The service answered 429: not now. Nothing happened." },
    ],
    [
      { status: "not_applied", reason: "absent" },
      { message: "The service does not have it. Nothing happened." },
    ],
    [
      { status: "not_applied", reason: "resolved" },
      { message: "A person found that it did not happen." },
    ],
    [
      { status: "not_applied", reason: "expired" },
      { message: "The time was up before anything was sent." },
    ],
    [
      { status: "in_progress" },
      {
        ok: false,
        outcome: "in_progress",
        message:
          "It is still in progress and may still land. Do not call again; ask for its status later.",
      },
    ],
    [
      { status: "held", reason: "approval" },
      {
        ok: false,
        effect: "noop",
        message:
          "Nothing was sent yet: a person must approve it first. Do not call again until told.",
      },
    ],
    [
      { status: "held", reason: "lane" },
      {
        message:
          "Nothing was sent: an earlier write to the same thing is not settled. Do not call again.",
      },
    ],
    [
      { status: "denied", by: "ana" },
      { effect: "noop", message: "A person said no. Nothing was sent. Do not call again." },
    ],
    [
      { status: "conflict" },
      {
        effect: "noop",
        message: "This key belongs to another request. Nothing was sent. Do not call again.",
      },
    ],
  ])("of %j", (outcome, expected) => {
    expect(replyOf(of(outcome), "reconcile")).toMatchObject(expected);
  });

  test("of an unknown outcome says who checks, and claims no effect", () => {
    const because = "The reply was lost.";
    const unknown = of({ status: "unknown", reason: "lost_reply", because });
    expect(replyOf(unknown, "reconcile")).toMatchObject({
      ok: false,
      message: "The reply was lost. It may have happened. Do not call again; it is being checked.",
    });
    expect(replyOf(unknown, "reader")).toMatchObject({
      message:
        "The reply was lost. It may have happened. Do not call again; it stays open until it is checked.",
    });
    expect(replyOf(unknown, "person")).toMatchObject({
      message: "The reply was lost. It may have happened. Do not call again; a person must check.",
    });
    expect(replyOf(unknown, "reader").effect).toBeUndefined();
  });

  test("of an unknown outcome that is not in the ledger, and of which nothing was sent, lets the same call be made again", () => {
    const unknown = { status: "unknown", reason: "cannot_tell", because: "Nothing was sent." };
    const messageOf = (told: object) => replyOf(of({ ...unknown, ...told }), "reader").message;
    expect(messageOf({ recorded: false, attempts: 0 })).toBe(
      "Nothing was sent. It may have happened. The same call may be made again: it reads first, and sends nothing unless the state can be read.",
    );
    // Sent, and the store was down: the settle is retried.
    expect(messageOf({ recorded: false, attempts: 1 })).toContain("Do not call again");
    expect(messageOf({ recorded: true, attempts: 0 })).toContain("Do not call again");
  });

  test("tells nothing of what was thrown", () => {
    const error = new Error("secret");
    const reply = replyOf(of({ status: "unknown", reason: "lost_reply", error }), "person");
    expect(JSON.stringify(reply)).not.toContain("secret");
    expect(Object.keys(reply)).not.toContain("error");
  });
});
