/** What a person reads in the inbox of a call that may be an earlier one in other words. */
import { expect, test } from "vitest";
import { questionLines } from "../../src/cli/ledger/question.ts";
import type { Approval } from "../../src/gate/approvals.ts";
import { testTerminal } from "./test-terminal.ts";

const DRIFT = { from: "operation-1", why: "unsettled", intent: { cents: 400 }, at: 1_000 };

function asked(drift: object): string {
  const operation = { id: "operation-2", tool: "refund", scope: "chat-7/turn-2", key: "k" };
  const shown = { args: { cents: 399 }, alsoDoes: [], plan: null, tool: "refund", drift };
  const approval = { operation, why: "drift", digest: "d", askedAt: 0, expiresAt: 9e9, shown };
  return questionLines(approval as unknown as Approval, testTerminal()).join("\n");
}

test("the earlier call, and what a yes does to it, are told in words", () => {
  const text = asked(DRIFT);
  expect(text).toContain("needs approval because it may be an earlier call in other words;");
  expect(text).toContain('is not settled, and may have happened: {"cents":400}');
  expect(text).toContain("A yes gives that one up: it is not sent again.");
  expect(text).not.toContain('"why"');
});

test("hidden characters of its intent are visible", () => {
  expect(asked({ ...DRIFT, intent: { payee: "ana\u202e" } })).toContain("\\u{202e}");
});
