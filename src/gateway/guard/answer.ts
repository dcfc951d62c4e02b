/**
 * What the host is told: the server's own answer wherever there is one, else what is known of the call.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { McpToolError, McpTurnedAwayError } from "../../classify/mcp.ts";
import { engineOf } from "../../engine/engine-of.ts";
import type { Outcome } from "../../engine/operation/outcome.ts";
import { type Reply, replyOf } from "../../engine/outcome/reply.ts";
import { checkerOf } from "../../engine/outcome/words.ts";
import { resultOf } from "../../integrations/mcp/result.ts";
import { putBounded } from "../../lang/bounded.ts";
import { peek } from "../../lang/peek.ts";
import { type Answer, type Fields, fieldsOf } from "../pipe/message.ts";
import { type Call, type CallParts, predecessorOf } from "./call.ts";
import { hasOnlyErrors, McpErrorAnswer } from "./send-call.ts";
import type { TrackedCall } from "./tracked-calls.ts";

const MOST_FAILURES = 1_000;

/** The outcome as the host is told it; `tracked` learns what that means for the same call made again. */
export async function tell(
  call: Call,
  tracked: TrackedCall,
  outcome: Outcome<unknown>,
  { hf, ledger, rewordings, failures, onEvent }: CallParts,
): Promise<Answer> {
  const { name, sending, treatment } = call;
  const { status, replayed } = outcome;
  const isFailure = await hasFailed(call, outcome, hf);
  const isUnknown = !isFailure && status === "unknown";
  const isOpen = isUnknown || status === "in_progress" || status === "held";
  if (tracked.phase !== "received") {
    tracked.isSettled = !isOpen;
    // After a no to a repeat, what was done before is still done.
    const isNoRepeat = status === "denied" && predecessorOf(tracked.key) !== undefined;
    tracked.isDoneWrite = (status === "committed" || isNoRepeat) && treatment.writes;
    tracked.isFailure = isFailure;
    // Of a tool that may be a read.
    const leavesNoRecord = isFailure && status === "unknown" && !treatment.writes;
    tracked.operationToForget = leavesNoRecord ? outcome.id : undefined;
  }
  if (replayed && status === "committed") onEvent("replayed");
  else if (isUnknown || status === "held") onEvent(status);
  if (isUnknown || status === "in_progress") rewordings.noteOpen(call, outcome.id);
  const own = sending.answer;
  // The server's own answer, as it came.
  if (own && status === "committed" && outcome.via === "reply" && !replayed) return own;
  if (isFailure) {
    if (own) putBounded(failures, tracked.key, own, MOST_FAILURES);
    const failure = own ?? failures.get(tracked.key);
    if (failure) return failure;
  }
  const reply = replyOf(outcome, checkerOf(name, engineOf(hf)));
  const words = isFailure ? FAILED : wordsFor(outcome, reply.message);
  const message = turnedAway(outcome) ?? words + (isFailure ? "" : whereToLook(outcome, ledger));
  return outcomeAnswer(outcome, { ...reply, message });
}

export const FAILED =
  "The server answered this call with an error, and its words were not kept. Call again if it is still wanted.";

/** The server has answered it with an error, and that ends it. */
async function hasFailed(
  { errorEnds, sending }: Call,
  outcome: Outcome<unknown>,
  hf: Holdfire,
): Promise<boolean> {
  if (outcome.status === "not_applied") return outcome.reason === "rejected";
  if (outcome.status !== "unknown" || !errorEnds) return false;
  if (sending.answer && outcome.attempts === 1) return true;
  // An attempt before, or another gateway, may have got none. What cannot be looked up is told as unknown: it was sent.
  const view = await hf.operations.get(outcome.id).catch(() => undefined);
  return view !== undefined && hasOnlyErrors(view);
}

/** What the server wants shown first, in the words of whoever asked it. */
function turnedAway(outcome: Outcome<unknown>): string | undefined {
  const error = "error" in outcome ? outcome.error : undefined;
  if (!(error instanceof McpTurnedAwayError)) return undefined;
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function wordsFor(outcome: Outcome<unknown>, message: string): string {
  // Here a repeat is no matter of a new message: once this answer was received, the same call is a new wish.
  if (outcome.status === "committed" && outcome.replayed) {
    return `Already done at ${new Date(outcome.at).toISOString()}; nothing was sent this time.`;
  }
  if (outcome.status === "unknown" && "error" in outcome) {
    const { error } = outcome;
    if (error instanceof McpErrorAnswer) return `The server answered with an error. ${message}`;
    if (error instanceof McpToolError) return `The tool answered with an error. ${message}`;
  }
  return message;
}

/** For the person to whom the model says what it was told. */
function whereToLook(outcome: Outcome<unknown>, ledger: string): string {
  const { status, id, recorded, attempts } = outcome;
  if (status === "held") return ` In a terminal, a person answers with: ${inboxCommand(ledger)}`;
  if (status !== "unknown") return "";
  // It left no record. What was sent and could not be written yet gets one.
  if (!recorded && attempts === 0) return "";
  return ` In a terminal, a person sees it with: npx holdfire show ${id} ${storeOption(ledger)}`;
}

export const inboxCommand = (ledger: string): string => `npx holdfire inbox ${storeOption(ledger)}`;

const storeOption = (ledger: string): string =>
  `--store ${/^[\w@%+=:,./\\-]+$/.test(ledger) ? ledger : JSON.stringify(ledger)}`;

/** The outcome as a result: the tool's own if it is done, else the words for it. */
function outcomeAnswer(outcome: Outcome<unknown>, reply: Reply): Answer {
  const result = resultOf(outcome, reply, "result");
  if (outcome.status !== "committed" || outcome.resultLost) return { result };
  // The handle of a task has no content, and is a whole result all the same.
  const isHandle = peek(outcome.result, "task") !== undefined;
  if (!isHandle) return { result };
  return { result: { ...fieldsOf(outcome.result), _meta: peek(result, "_meta") } };
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
