import { describe, expect, test } from "vitest";
import type { Outcome } from "../../src/engine/operation/outcome.ts";
import { errorOf } from "../../src/engine/outcome/error-of.ts";
import { isHoldfireError, NotAppliedError, OutcomeUnknownError } from "../../src/errors.ts";

const COMMON = {
  tool: "refund",
  id: "operation-1",
  key: "key-1",
  replayed: false,
  recorded: true,
  attempts: 1,
  at: 0,
};

const of = (rest: object): Outcome<unknown> => ({ ...COMMON, ...rest }) as Outcome<unknown>;

describe("what a plain call throws", () => {
  test("nothing for a commit with its result, be it undefined", () => {
    expect(errorOf(of({ status: "committed", result: 1 }))).toBeUndefined();
    expect(errorOf(of({ status: "committed", result: undefined }))).toBeUndefined();
  });

  test.each([
    [{ status: "committed", resultLost: true }, "ERR_HOLDFIRE_RESULT_LOST"],
    [{ status: "not_applied", reason: "rejected" }, "ERR_HOLDFIRE_NOT_APPLIED"],
    [{ status: "unknown", reason: "lost_reply" }, "ERR_HOLDFIRE_OUTCOME_UNKNOWN"],
    [{ status: "in_progress" }, "ERR_HOLDFIRE_IN_PROGRESS"],
    [{ status: "held", reason: "approval" }, "ERR_HOLDFIRE_APPROVAL_REQUIRED"],
    [{ status: "held", reason: "drift" }, "ERR_HOLDFIRE_APPROVAL_REQUIRED"],
    [
      { status: "held", reason: "lane", resource: "payment/p1", blockedBy: "operation-0" },
      "ERR_HOLDFIRE_LANE_BLOCKED",
    ],
    [{ status: "denied", by: "ana" }, "ERR_HOLDFIRE_DENIED"],
    [{ status: "conflict" }, "ERR_HOLDFIRE_KEY_CONFLICT"],
  ])("%j: %s", (rest, code) => {
    const error = errorOf(of(rest));
    expect(error).toMatchObject({
      code,
      operation: { tool: "refund", id: "operation-1", key: "key-1" },
    });
    expect(isHoldfireError(error)).toBe(true);
  });

  test("all of it looks final to an outer retry loop", () => {
    const lost = Object.assign(new Error("socket"), { code: "ECONNRESET" });
    for (const rest of [
      { status: "unknown", reason: "lost_reply", error: lost },
      { status: "not_applied", reason: "not_sent", error: lost },
      { status: "in_progress" },
    ]) {
      const error = errorOf(of(rest));
      expect(error).toMatchObject({ status: 409, isRetryable: false });
      // The loops that are known look at the error itself: the cause is for people.
      expect(error?.cause).toBe("error" in rest ? lost : undefined);
      expect(error?.code.startsWith("ERR_HOLDFIRE_")).toBe(true);
    }
  });

  test("what the last attempt threw is its cause; without one there is none", () => {
    const thrown = new Error("secret");
    const error = errorOf(of({ status: "unknown", reason: "lost_reply", error: thrown }));
    expect(error?.cause).toBe(thrown);
    expect(Object.keys(error ?? {})).not.toContain("cause");
    const replayed = errorOf(of({ status: "unknown", reason: "lost_reply" }));
    expect("cause" in (replayed ?? {})).toBe(false);
  });

  test("what is known of it is in the message", () => {
    const because = "It was not sent: ReferenceError: amount is not defined.";
    const no = errorOf(of({ status: "not_applied", reason: "not_sent", because }));
    expect(no?.message).toContain(because);
    const unknown = errorOf(of({ status: "unknown", reason: "run_failed", because }));
    expect(unknown?.message).toContain(because);
  });

  test("says the service's status, the reason and the hint", () => {
    const no = errorOf(
      of({ status: "not_applied", reason: "rejected", rejection: { status: 404 } }),
    );
    expect(no).toBeInstanceOf(NotAppliedError);
    expect(no).toMatchObject({ serviceStatus: 404, reason: "rejected" });
    const unknown = errorOf(
      of({ status: "unknown", reason: "lost_reply", hint: "Declare keyed." }),
    );
    expect(unknown).toBeInstanceOf(OutcomeUnknownError);
    expect(unknown?.message).toContain("Declare keyed.");
  });

  test("the failure of an inner operation passes up untouched", () => {
    const inner = new NotAppliedError({ tool: "inner", id: "i", key: "k" }, "rejected", {
      status: 404,
    });
    expect(errorOf(of({ status: "unknown", reason: "partial", error: inner }))).toBe(inner);
  });
});
