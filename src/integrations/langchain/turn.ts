/**
 * Which request a tool call of LangChain or LangGraph belongs to.
 *
 * Where the state has words of a person, they make the turn. Where it has none, the task does: LangGraph gives a
 * task the same id when it is run again by a retry, after an interrupt or after a crash.
 *
 * @module
 */

import { peek, peekItems } from "../../lang/peek.ts";
import type { NamedCall } from "../shared/tools/response-names.ts";
import { runOfResponses } from "../shared/tools/run-name.ts";
import { type FromContext, idText, stepOf, type Turn, turnFrom } from "../shared/tools/turn.ts";
import { turnBeginning } from "../shared/tools/turn-beginning.ts";

/** Where the scope comes from, if not from LangGraph's `thread_id`. */
export interface LangChainTurnOptions {
  /**
   * The conversation, as you name it, or where it stands in the tool's config. With what persons have said it
   * makes the scope.
   *
   * @default `configurable.thread_id`
   */
  readonly thread?: FromContext<string, unknown>;
  /** Your own id of the request in the thread (a message id of your store), in place of what persons have said. */
  readonly turn?: FromContext<string, unknown>;
  /** The scope itself, in place of the turn: one id per request of a person, job or step. */
  readonly scope?: FromContext<string, unknown>;
}

export function langChainTurn(config: unknown, options: LangChainTurnOptions): Turn {
  const messages = messagesIn(config);
  const turn = turnFrom(options, config, messages);
  const thread = turn.thread ?? threadIn(config);
  const task = turnBeginning(messages) ? undefined : taskOf(config);
  const run = runOfResponses(messages, callsIn);
  return { ...turn, thread, turn: turn.turn ?? task, run, step: stepOf(messages) };
}

const callsIn = (message: unknown): readonly NamedCall[] =>
  peekItems(peek(message, "tool_calls"), Number.POSITIVE_INFINITY).map((call) => ({
    id: peek(call, "id"),
    name: peek(call, "name"),
    args: peek(call, "args"),
  }));

const threadIn = (config: unknown): string | undefined =>
  idText(peek(peek(config, "configurable"), "thread_id")) ??
  idText(peek(peek(config, "executionInfo"), "threadId"));

/** A tool of a ToolNode is given the state; one that is called in a node finds it where the node does. */
function messagesIn(config: unknown): unknown {
  const scratchpad = peek(peek(config, "configurable"), "__pregel_scratchpad");
  const state = peek(config, "state") ?? peek(scratchpad, "currentTaskInput");
  return Array.isArray(state) ? state : peek(state, "messages");
}

function taskOf(config: unknown): string | undefined {
  const task = idText(peek(peek(config, "executionInfo"), "taskId"));
  return task && `task-${task}`;
}
