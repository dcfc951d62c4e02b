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
import { namedTurnScope, turnScope } from "../../../key/turn.ts";
import { ignoreRejection, peekItems } from "../../../lang/peek.ts";
import { lastByPerson, personMessages } from "./person-messages.ts";
import { turnBeginning } from "./turn-beginning.ts";

/** What a framework or its user knows of the request that a call belongs to. */
export interface Turn {
  /** The scope itself. */
  readonly scope?: string | undefined;
  /** The conversation, session or task, as the user names it. */
  readonly thread?: string | undefined;
  /** Your own id of the request in the thread (a message id of your store), in place of what persons have said. */
  readonly turn?: string | undefined;
  /** The conversation so far, in any framework's form; all but persons' messages are ignored. */
  readonly messages?: unknown;
  /** Names the framework's run. Drift is judged between runs; without a name all are one. */
  readonly run?: string | undefined;
  /** Names the model's response that the call is part of. @default a response of its own */
  readonly step?: string | undefined;
}

/** A turn whose scope was looked for when the call was made, for what waits before it calls `inTurn`. */
export interface FoundTurn extends Turn {
  readonly found?: Promise<string | undefined> | undefined;
}

/** The turn as it is now: a conversation goes on, and then its messages stand for another one. */
export function findTurn(turn: Turn): FoundTurn {
  const isNamed = turn.scope !== undefined || currentScope() !== undefined;
  // Whoever calls `inTurn` hears of a failure.
  return { ...turn, found: isNamed ? undefined : ignoreRejection(turnOf(turn)) };
}

/**
 * Calls `fn` in the scope of the turn. What it is given goes into the options of the call. `line` is what
 * a user must add where there is no scope; without it, the call is made without one.
 *
 * The conversation is read before anything is waited for.
 */
export async function inTurn<T>(
  turn: FoundTurn,
  { tool, line }: { readonly tool: string; readonly line: string | undefined },
  fn: (scope: string | undefined) => T | Promise<T>,
): Promise<T> {
  const { scope, run, found } = turn;
  if (currentScope()) return fn(scope);
  const id = scope ?? (await (found ?? turnOf(turn)));
  if (id === undefined) {
    if (line === undefined) return fn(undefined);
    throw new MissingScopeError(tool, line);
  }
  return run === undefined ? fn(id) : enterScope(id, () => fn(undefined), { run });
}

/** Reads all of the messages at once; only the bytes of a `Blob`, which cannot change, come later. */
async function turnOf({ thread, turn, messages }: Turn): Promise<string | undefined> {
  if (thread === undefined) return undefined;
  if (turn !== undefined) return namedTurnScope(thread, turn);
  if (typeof messages === "string") return turnScope(thread, await personMessages(messages));
  const began = turnBeginning(messages);
  if (!began) return undefined;
  const said = await personMessages(lastByPerson(messages) ? messages : [began]);
  return fixTurn(began, thread, said);
}

interface FixedTurn {
  readonly thread: string;
  readonly said: readonly string[];
  readonly scope: string;
}

/** One message may begin several: a program may say the same constant again and again. */
const MOST_TURNS = 15;
const fixed = new WeakMap<object, FixedTurn[]>();

/**
 * The turn is fixed by its first call: a conversation that is shortened on the way is still the same request. Known by the
 * very message that began it, as the run is. With more said than before, it is another turn.
 */
function fixTurn(began: object, thread: string, said: readonly string[]): string {
  const turns = fixed.get(began) ?? [];
  const known = turns.find((turn) => turn.thread === thread && isShortened(said, turn.said));
  if (known) return known.scope;
  const scope = turnScope(thread, said);
  fixed.set(began, [...turns.slice(-MOST_TURNS), { thread, said, scope }]);
  return scope;
}

/** The last words are the same, and before them some are missing, or none. */
function isShortened(now: readonly string[], before: readonly string[]): boolean {
  if (now.at(-1) !== before.at(-1)) return false;
  let next = 0;
  for (const words of before) if (words === now[next]) next += 1;
  return next === now.length;
}

const names = new WeakMap<object, string>();

/** A name for this very object, while this process lives. */
export function nameOf(object: object): string {
  const name = names.get(object) ?? crypto.randomUUID();
  names.set(object, name);
  return name;
}

/**
 * Names the run by the message that began its turn: frameworks hand on that very object from step to step,
 * and make another one when a run is started again.
 */
export function runOf(messages: unknown): string | undefined {
  const began = turnBeginning(messages);
  return began && nameOf(began);
}

/**
 * Names the model's response by the last message that the framework gives to its calls: only where that is the one
 * before the response, or the response itself.
 */
export function stepOf(messages: unknown): string | undefined {
  const last: unknown = peekItems(messages, Number.POSITIVE_INFINITY).at(-1);
  return typeof last === "object" && last !== null ? nameOf(last) : undefined;
}

/** A value, or how it is found in what the framework gives to a tool. */
export type FromContext<T, C> = T | ((context: C) => T | undefined) | undefined;

export const fromContext = <T, C>(value: FromContext<T, C>, context: C): T | undefined =>
  typeof value === "function" ? (value as (context: C) => T | undefined)(context) : value;

interface TurnOptions<C> {
  readonly thread?: FromContext<string, C>;
  readonly turn?: FromContext<string, C>;
  readonly scope?: FromContext<string, C>;
}

/** The turn of frameworks whose users say where the thread and the scope stand. */
export const turnFrom = <C>(
  { thread, turn, scope }: TurnOptions<C>,
  context: C,
  messages: unknown,
): Turn => ({
  thread: fromContext(thread, context),
  turn: fromContext(turn, context),
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
  /** Your own id of the request in the thread (a message id of your store), in place of what persons have said. */
  readonly turn?: string | undefined;
  /** The scope itself, in place of the turn. */
  readonly scope?: string | undefined;
  /**
   * The conversation so far, or a function that returns it. Of the runners, only OpenAI's `runTools` knows
   * it by itself.
   */
  readonly messages?: unknown;
}

export function runnerTurn({ thread, turn, scope, messages }: RunnerTurnOptions): Turn {
  const said: unknown = typeof messages === "function" ? messages() : messages;
  return { thread, turn, scope, messages: said, run: runOf(said) };
}
