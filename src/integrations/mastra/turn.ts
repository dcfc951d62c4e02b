/**
 * Which request a tool call or a workflow step of Mastra belongs to.
 *
 * In an agent it is the turn. A run that goes on after an approval comes without the conversation: its calls belong to the
 * turn of the calls before it, where this process has made some, else to that approval, as a turn of the thread. In a
 * workflow it is the step of the run: Mastra runs a step again under the same run id, by `retries`, after a restart and
 * when the run is resumed.
 *
 * @module
 */

import { currentScope } from "../../key/scope.ts";
import { peek, tryCall } from "../../lang/peek.ts";
import { lastByPerson } from "../shared/tools/person-messages.ts";
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
   * @default the turn; in a workflow, the scope around its run, else the run and the step
   */
  readonly scope?: Id;
}

export function mastraTurn(context: unknown, step: string, options: MastraTurnOptions): Turn {
  const agent = peek(context, "agent");
  const run = idText(peek(context, "runId"));
  const given = peek(agent, "messages") ?? peek(context, "messages");
  const messages = conversationOf(run, given);
  const turn = turnFrom(options, context, messages);
  const named = turn.turn ?? approvalOf(run, messages);
  const isTurn = given !== undefined || named !== undefined;
  // As a turn, it gives way to the scope around the run.
  const made = isTurn || currentScope() ? undefined : stepScope(context, step);
  const scope = turn.scope ?? made;
  const thread = turn.thread ?? threadIn(context);
  return { ...turn, scope, thread, turn: named, run: run ?? turn.run };
}

/** A run that goes on after an approval has an empty conversation; a new one never has. */
const isResumed = (messages: unknown): boolean => Array.isArray(messages) && messages.length === 0;

const MOST_RUNS = 1_000;
/** The message that began a run's turn, of runs that have called a guarded tool in this process. */
const begun = new Map<string, object>();

/** The conversation, or what began it: the turn is fixed by that message. */
function conversationOf(run: string | undefined, messages: unknown): unknown {
  if (run === undefined) return messages;
  const first = begun.get(run);
  if (isResumed(messages)) return first ? [first] : messages;
  const last = lastByPerson(messages);
  if (last) begun.set(run, last);
  for (const oldest of begun.keys()) if (begun.size > MOST_RUNS) begun.delete(oldest);
  return messages;
}

/** The turn of a resumed run whose conversation is not known. */
const approvalOf = (run: string | undefined, messages: unknown): string | undefined =>
  run !== undefined && isResumed(messages) ? `approved-${run}` : undefined;

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
