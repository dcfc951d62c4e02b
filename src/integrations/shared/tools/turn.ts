/**
 * Under which scope a framework's tool call is made.
 *
 * An explicit scope wins, then the one around the call (`hf.scope`, or the operation it is part of),
 * then the turn: the thread and what persons have said in it. The ids of threads, runs and tool calls are
 * no scope by themselves: a thread outlives a request, the others change with every try.
 *
 * @module
 */

import { MissingScopeError } from "../../../errors.ts";
import { currentScope, enterScope } from "../../../key/scope.ts";
import { turnScope } from "../../../key/turn.ts";
import { lastByPerson, personMessages } from "./person-messages.ts";

/** What a framework or its user knows of the request that a call belongs to. */
export interface Turn {
  /** The scope itself. */
  readonly scope?: string | undefined;
  /** The conversation, session or task, as the user names it. */
  readonly thread?: string | undefined;
  /** The conversation so far, in any framework's form; all but persons' messages are ignored. */
  readonly messages?: unknown;
  /** Names the framework's run. Drift is judged between runs; without a name all are one. */
  readonly run?: string | undefined;
}

/**
 * Calls `fn` in the scope of the turn. What it is given goes into the options of the call. `line` is what
 * a user must add where there is no scope; without it, the call is made without one.
 */
export function inTurn<T>(
  turn: Turn,
  { tool, line }: { readonly tool: string; readonly line: string | undefined },
  fn: (scope: string | undefined) => T,
): T {
  const { scope, run } = turn;
  if (currentScope()) return fn(scope);
  const id = scope ?? turnOf(turn);
  if (id === undefined) {
    if (line === undefined) return fn(undefined);
    throw new MissingScopeError(tool, line);
  }
  return run === undefined ? fn(id) : enterScope(id, () => fn(undefined), { run });
}

function turnOf({ thread, messages }: Turn): string | undefined {
  if (thread === undefined) return undefined;
  const said = personMessages(messages);
  return said.length === 0 ? undefined : turnScope(thread, said);
}

const runs = new WeakMap<object, string>();

/**
 * Names the run by the last message of a person: frameworks hand on that very object from step to step,
 * and make another one when a run is started again.
 */
export function runOf(messages: unknown): string | undefined {
  const last = lastByPerson(messages);
  if (!last) return undefined;
  const known = runs.get(last) ?? crypto.randomUUID();
  runs.set(last, known);
  return known;
}

/** A value, or how it is found in what the framework gives to a tool. */
export type FromContext<T, C> = T | ((context: C) => T | undefined) | undefined;

export const fromContext = <T, C>(value: FromContext<T, C>, context: C): T | undefined =>
  typeof value === "function" ? (value as (context: C) => T | undefined)(context) : value;

/** The turn of frameworks whose users say where the thread and the scope stand. */
export const turnFrom = <C>(
  {
    thread,
    scope,
  }: { readonly thread?: FromContext<string, C>; readonly scope?: FromContext<string, C> },
  context: C,
  messages: unknown,
): Turn => ({
  thread: fromContext(thread, context),
  scope: fromContext(scope, context),
  messages,
  run: runOf(messages),
});

/** An id that names something. */
export const idText = (id: unknown): string | undefined =>
  typeof id === "string" && id !== "" ? id : undefined;

/** Which request of a person the tools of a runner work for; it tells them nothing of the conversation. */
export interface RunnerTurnOptions {
  /** The conversation, as you name it; with what persons have said it makes the scope. */
  readonly thread?: string | undefined;
  /** The scope itself, in place of the turn. */
  readonly scope?: string | undefined;
  /**
   * The conversation so far, or a function that returns it. Of the runners, only OpenAI's `runTools` knows
   * it by itself.
   */
  readonly messages?: unknown;
}

export function runnerTurn({ thread, scope, messages }: RunnerTurnOptions): Turn {
  const said: unknown = typeof messages === "function" ? messages() : messages;
  return { thread, scope, messages: said, run: runOf(said) };
}
