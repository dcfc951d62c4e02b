/**
 * Names a framework's run, where the framework gives no name, by what belongs to one run alone.
 *
 * The person's message is no such thing: a program that calls again after a failure hands in the same messages, as the very
 * objects that they were. What the run itself makes is: its lists, the model's responses, its tool calls. By the first of its
 * calls, a run that goes on after a question to a person is known again.
 *
 * @module
 */

import { digestText } from "../../../key/digest.ts";
import { peekItems } from "../../../lang/peek.ts";
import { type NamedCall, partsOf } from "./response-names.ts";
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

interface Marks {
  /** Looked for. */
  readonly seen: readonly Mark[];
  /** Belongs to the run from now on. */
  readonly own: readonly Mark[];
  /** The first calls of the run, with their arguments: ids alone may be counted, anew in each run. */
  readonly first: readonly NamedCall[];
}

/** The run that a mark is known to belong to, else the one that began with these calls, else a new one. */
function runByMarks(began: object, { seen, own, first }: Marks): string {
  const { objects, ids } = marked.get(began) ?? { objects: new WeakMap(), ids: new Map() };
  marked.set(began, { objects, ids });
  const runIn = (mark: Mark) => (typeof mark === "string" ? ids.get(mark) : objects.get(mark));
  const known = seen.map(runIn).find((run) => run !== undefined);
  const begins = first.flatMap(partsOf);
  const run = known ?? (begins.length > 0 ? digestText("run", ...begins) : crypto.randomUUID());
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
export function runOfResponses(
  messages: unknown,
  callsIn: (message: unknown) => readonly NamedCall[],
): string | undefined {
  const began = turnBeginning(messages);
  if (!began) return undefined;
  const made = madeSince(messages, began);
  const own = made.length > 0 ? made : [began];
  const first = made.map(callsIn).find((calls) => calls.length > 0) ?? [];
  return runByMarks(began, { seen: [began, ...made], own, first });
}

/**
 * For frameworks that make a list of messages for each step, before the response, and name the calls of earlier steps in it.
 *
 * @param callsIn the tool calls in a message
 */
export function runOfSteps(
  messages: unknown,
  call: NamedCall,
  callsIn: (message: unknown) => readonly NamedCall[],
): string | undefined {
  const began = turnBeginning(messages);
  if (!began || !Array.isArray(messages)) return runOf(messages);
  const earlier = madeSince(messages, began).flatMap(callsIn);
  return runByMarks(began, {
    seen: [messages, ...earlier.map(({ id }) => String(id))],
    own: [messages, String(call.id)],
    first: [earlier[0] ?? call],
  });
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
