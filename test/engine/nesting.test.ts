import { describe, expect, test } from "vitest";
import type { Judgement } from "../../src/classify/classify.ts";
import {
  currentFrame,
  enterInner,
  type Frame,
  type Inner,
  judgeNested,
  type OwnPart,
} from "../../src/engine/operation/nesting.ts";
import { createToken, runWithoutToken, runWithToken } from "../../src/wire/token.ts";

const FAILURE = new Error("inner failure");
const frameOf = (...inner: Inner[]): Frame => ({ operationId: "outer", inner });
const innerOf = (status: Inner["status"], error?: unknown): Inner => ({ status, error });
const NOTHING: OwnPart = { requests: 0, viaHttp: true };
const ONE: OwnPart = { requests: 1, viaHttp: true };
const REJECTED: Judgement = { verdict: "rejected", status: 404 };

describe("what a failed attempt proves", () => {
  test("is left as it is without inner operations", () => {
    expect(judgeNested(REJECTED, frameOf(), FAILURE, ONE)).toEqual(REJECTED);
  });

  test("of a success is left as it is", () => {
    const judged = judgeNested(
      { verdict: "committed" },
      frameOf(innerOf("unknown")),
      undefined,
      NOTHING,
    );
    expect(judged).toEqual({ verdict: "committed" });
  });

  test.each(["committed", "unknown", "in_progress", "pending"] as const)(
    "is nothing with an inner operation that is %s",
    (status) => {
      const judged = judgeNested(REJECTED, frameOf(innerOf(status)), FAILURE, ONE);
      expect(judged).toMatchObject({ verdict: "unknown", innerOnly: false });
    },
  );

  test("stays a no if no inner operation did anything", () => {
    const frame = frameOf(innerOf("not_applied"), innerOf("held"), innerOf("denied"));
    expect(judgeNested(REJECTED, frame, FAILURE, ONE)).toMatchObject({ verdict: "rejected" });
  });

  test("is that nothing was sent, if an inner failure came up untouched and nothing else was sent", () => {
    const frame = frameOf(innerOf("not_applied", FAILURE));
    const judged = judgeNested({ verdict: "unknown" }, frame, FAILURE, NOTHING);
    expect(judged).toMatchObject({ verdict: "not_sent", innerOnly: true });
  });

  test("is that, and no licence, if it may have done what is not seen", () => {
    const unseen = { requests: 0, viaHttp: false };
    const judged = (...inner: Inner[]) =>
      judgeNested({ verdict: "unknown" }, frameOf(...inner), FAILURE, unseen);
    const failed = innerOf("not_applied", FAILURE);
    expect(judged(failed)).toEqual({ verdict: "not_sent", innerOnly: false });
    expect(judged(innerOf("committed"), failed)).toEqual({ verdict: "unknown", innerOnly: false });
  });

  test("is nothing if it had a request of its own", () => {
    const frame = frameOf(innerOf("not_applied", FAILURE));
    expect(judgeNested({ verdict: "unknown" }, frame, FAILURE, ONE)).toEqual({
      verdict: "unknown",
    });
  });

  test("is nothing if another error came up", () => {
    const frame = frameOf(innerOf("not_applied", FAILURE));
    const judged = judgeNested({ verdict: "unknown" }, frame, new Error("wrapped"), NOTHING);
    expect(judged).toEqual({ verdict: "unknown" });
  });

  test("`undefined` thrown is not an inner operation's missing error", () => {
    const frame = frameOf(innerOf("not_applied"));
    expect(judgeNested({ verdict: "unknown" }, frame, undefined, NOTHING)).toEqual({
      verdict: "unknown",
    });
  });

  test("all its requests were inner ones: that is kept for the next call", () => {
    const frame = frameOf(innerOf("committed"), innerOf("not_applied", FAILURE));
    const judged = judgeNested({ verdict: "unknown" }, frame, FAILURE, NOTHING);
    expect(judged).toMatchObject({ verdict: "unknown", innerOnly: true });
  });
});

describe("the frame", () => {
  test("is that of the attempt around, and none outside", () => {
    const frame = frameOf();
    expect(currentFrame()).toBeUndefined();
    expect(enterInner()).toBeUndefined();
    runWithToken(createToken({ operationId: "o", attempt: 1, frame }), () => {
      expect(currentFrame()).toBe(frame);
      expect(enterInner()).toEqual({ status: "pending", error: undefined });
      // A read or a model call has a token of its own; the attempt around is the same.
      const read = createToken({ operationId: "r", attempt: 1 });
      runWithToken(read, () => expect(currentFrame()).toBe(frame));
      runWithoutToken(() => expect(enterInner()).toBeUndefined());
    });
    expect(frame.inner).toHaveLength(1);
  });
});
