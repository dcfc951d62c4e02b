/**
 * What the host is told: the server's own answer wherever there is one, else what is known of the call.
 *
 * @module
 */

import type { Outcome } from "../../engine/operation/outcome.ts";
import type { Reply } from "../../engine/outcome/reply.ts";
import { resultOf } from "../../integrations/mcp/result.ts";
import { peek } from "../../lang/peek.ts";
import { type Answer, type Fields, fieldsOf } from "../pipe/message.ts";

/** The outcome as a result: the tool's own if it is done, else the words for it. */
export function outcomeAnswer(outcome: Outcome<unknown>, reply: Reply): Answer {
  const told = resultOf(outcome, reply, "result");
  if (outcome.status !== "committed" || outcome.resultLost) return { result: told };
  // The handle of a task has no content, and is a whole result all the same.
  const isHandle = peek(outcome.result, "task") !== undefined;
  if (!isHandle) return { result: told };
  return { result: { ...fieldsOf(outcome.result), _meta: peek(told, "_meta") } };
}

/** The same, with words for the model before what the tool said. */
export function withWords(answer: Answer, words: string): Answer {
  const result = fieldsOf(answer.result);
  const content = Array.isArray(result.content) ? result.content : [];
  return { result: { ...result, content: [{ type: "text", text: words }, ...content] } };
}

/** Words of ours, and nothing of the server's. */
export const wordsAnswer = (facts: object, isError: boolean): Answer => ({
  result: { content: [{ type: "text", text: JSON.stringify(facts) }], isError },
});

/** From 2026-07-28 on a result says what it is. */
export function complete(answer: Answer, isStateless: boolean): Answer {
  if (!isStateless || answer.error !== undefined) return answer;
  const result: Fields = fieldsOf(answer.result);
  return { result: { ...result, resultType: result.resultType ?? "complete" } };
}
