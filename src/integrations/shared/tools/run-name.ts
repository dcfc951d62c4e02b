/**
 * Names a framework's run, where the framework gives no name, by what belongs to one run alone.
 *
 * The person's message is no such thing: a program that calls again after a failure hands in the same messages, as the very
 * objects that they were. What the run itself makes is: its lists, the model's responses, the ids of tool calls.
 *
 * @module
 */

import { peekItems } from "../../../lang/peek.ts";
import { nameOf, runOf } from "./turn.ts";
import { turnBeginning } from "./turn-beginning.ts";

/** An object, or a tool call's id. */
type Mark = object | string;

interface Marked {
  readonly objects: WeakMap<object, string>;
  readonly ids: Map<string, string>;
}

/** By the message that began the turn: ids of tool calls may come back in another one. */
const marked = new WeakMap<object, Marked>();

/**
 * The run that one of `seen` is known to belong to, else a new one; `own` belongs to it from now on.
 *
 * @param began what began the turn
 */
export function runByMarks(began: object, seen: readonly Mark[], own: readonly Mark[]): string {
  const { objects, ids } = marked.get(began) ?? { objects: new WeakMap(), ids: new Map() };
  marked.set(began, { objects, ids });
  const runIn = (mark: Mark) => (typeof mark === "string" ? ids.get(mark) : objects.get(mark));
  const known = seen.map(runIn).find((run) => run !== undefined);
  const run = known ?? crypto.randomUUID();
  for (const mark of own) {
    if (typeof mark === "string") ids.set(mark, run);
    else objects.set(mark, run);
  }
  return run;
}

/**
 * For frameworks whose calls find the model's responses in the conversation, as the objects that the run made. A call that
 * finds none, because no model asked for it, belongs to the person's message.
 */
export function runOfResponses(messages: unknown): string | undefined {
  const began = turnBeginning(messages);
  if (!began) return undefined;
  const made = madeSince(messages, began);
  return runByMarks(began, [began, ...made], made.length > 0 ? made : [began]);
}

/**
 * For frameworks that make a list of messages for each step, before the response, and name the calls of earlier steps in it.
 *
 * @param idsIn the ids of the tool calls in a message
 */
export function runOfSteps(
  messages: unknown,
  toolCallId: unknown,
  idsIn: (message: unknown) => readonly string[],
): string | undefined {
  const began = turnBeginning(messages);
  if (!began || !Array.isArray(messages)) return runOf(messages);
  const earlier = madeSince(messages, began).flatMap(idsIn);
  const own = typeof toolCallId === "string" ? [messages, toolCallId] : [messages];
  return runByMarks(began, [messages, ...earlier], own);
}

/** The same for all calls that are given this very list, while nothing is added to it. */
export function stepOfList(messages: unknown): string | undefined {
  const all = peekItems(messages, Number.POSITIVE_INFINITY);
  const last = all.at(-1);
  if (!Array.isArray(messages) || typeof last !== "object" || last === null) return undefined;
  return `${nameOf(messages)}/${nameOf(last)}`;
}

function madeSince(messages: unknown, began: object): readonly object[] {
  const all = peekItems(messages, Number.POSITIVE_INFINITY);
  return all
    .slice(all.indexOf(began) + 1)
    .filter((message) => typeof message === "object" && message !== null);
}
