/** What a person is shown by the host before a call. */
import { describe, expect, test } from "vitest";
import type { Approval } from "../../src/gate/approvals.ts";
import { questionOf } from "../../src/gateway/people/question.ts";

const asked = (why: Approval["why"], drift?: object): string => {
  const shown = { args: { path: "b" }, alsoDoes: [], ...(drift && { drift }) };
  const operation = { id: "operation-2" };
  return questionOf({ why, shown, operation } as unknown as Approval, "files", "remove").message;
};

describe.each(["approval", "drift"] as const)("a question asked for %s", (why) => {
  test("says that a yes gives an unsettled call up", () => {
    const message = asked(why, { from: "operation-1", why: "unsettled", intent: { path: "a" } });
    expect(message).toContain(`is not settled, and may have happened: {"path":"a"}`);
    expect(message).toContain("A yes gives that one up: it is not sent again.");
  });

  test.each([
    ["committed_since", "which was told as open, is done by now: operation operation-1"],
    ["earlier_run", "It differs from an earlier call of this tool, which is done: operation"],
    ["version", "Another version of this tool has left a call open"],
  ])("tells an earlier call (%s) as it is, and gives nothing up", (drift, words) => {
    const message = asked(why, { from: "operation-1", why: drift });
    expect(message).toContain(words);
    expect(message).not.toContain("gives that one up");
  });

  test("says nothing of earlier calls where there are none", () => {
    expect(asked(why)).not.toContain("earlier call");
  });
});
