/**
 * Which request a tool call or a workflow step of Mastra belongs to.
 *
 * In an agent it is the turn. A call that a person approved comes without the conversation: it belongs to that
 * approval, which is for one run. In a workflow it is the step of the run: Mastra runs a step again under the same
 * run id, by `retries`, after a restart and when the run is resumed.
 *
 * @module
 */

import { peek, tryCall } from "../../lang/peek.ts";
import { type FromContext, idText, type Turn, turnFrom } from "../shared/tools/turn.ts";

// biome-ignore lint/suspicious/noExplicitAny: contexts of agents, hooks, background tasks and steps
type Id = FromContext<string, any>;

export interface MastraTurnOptions {
  /**
   * The conversation, as you name it, or where it stands in the tool's context. With what persons have said it
   * makes the scope.
   *
   * @default the thread of the agent's memory
   */
  readonly thread?: Id;
  /** Your own id of the request in the thread (a message id of your store), in place of what persons have said. */
  readonly turn?: Id;
  /**
   * The scope itself: one id per request of a person, job or step.
   *
   * @default the turn; in a workflow, the run and the step
   */
  readonly scope?: Id;
}

export function mastraTurn(context: unknown, step: string, options: MastraTurnOptions): Turn {
  const agent = peek(context, "agent");
  const messages = peek(agent, "messages") ?? peek(context, "messages");
  const turn = turnFrom(options, context, messages);
  const thread = turn.thread ?? threadIn(context);
  const made = messages ? approvedRun(context, thread, messages) : stepScope(context, step);
  const scope = turn.scope ?? (turn.turn === undefined ? made : undefined);
  return { ...turn, scope, thread, run: idText(peek(context, "runId")) ?? turn.run };
}

/** A run that goes on after an approval has an empty conversation; a new one never has. */
function approvedRun(
  context: unknown,
  thread: string | undefined,
  messages: unknown,
): string | undefined {
  const run = idText(peek(context, "runId"));
  const isResumed = Array.isArray(messages) && messages.length === 0;
  return isResumed && thread && run ? `${thread}/approved-${run}` : undefined;
}

/** The scope of a step: run id and step id. */
function stepScope(context: unknown, step: string): string | undefined {
  const workflow = peek(context, "workflow") ?? context;
  const run = idText(peek(workflow, "runId"));
  const id = idText(peek(workflow, "workflowId")) ?? "";
  return run === undefined
    ? undefined
    : `mastra:${[id, run, step].map(encodeURIComponent).join("/")}`;
}

/** A hook is told less than a tool; the thread then stands where the memory finds it. */
function threadIn(context: unknown): string | undefined {
  const memory = tryCall(peek(context, "requestContext"), "get", "MastraMemory");
  return (
    idText(peek(peek(context, "agent"), "threadId")) ??
    idText(peek(context, "threadId")) ??
    idText(peek(peek(memory, "thread"), "id"))
  );
}
