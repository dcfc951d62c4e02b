/**
 * Names for a model's response and for the run that it is part of, where a conversation is all that is known.
 *
 * The id of a tool call is no name of its response by itself: some models count their calls (`pay:0`, `functions.pay:0`), anew in
 * each response or in each run, and some servers give no ids.
 *
 * @module
 */

import { canonicalize } from "../../../key/canonical.ts";
import { digestText } from "../../../key/digest.ts";
import { peek, peekItems } from "../../../lang/peek.ts";
import { lastByPerson } from "./person-messages.ts";
import { runOf } from "./turn.ts";

/** A tool call, as the model made it. */
export interface NamedCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly args: unknown;
}

/** The same for all calls of one response. Two responses with the same counted ids and arguments cannot be told apart. */
export const stepOfCalls = (calls: readonly NamedCall[]): string | undefined =>
  calls.length === 0 ? undefined : digestText("response", ...calls.flatMap(partsOf));

/**
 * Names the run by the first call after a person's last words: a run started again has another one. Where ids may come
 * back, the person's message, as the very object that it is, is part of the name. A program that loads that message again
 * at each step then has a run for each step.
 */
export function runOfCalls(messages: unknown, next?: NamedCall): string | undefined {
  const first = firstCallIn(messages) ?? next;
  if (!first) return undefined;
  if (!mayRepeatId(first)) return String(first.id);
  const run = runOf(messages);
  return run && digestText("run", run, ...partsOf(first));
}

/** Missing, or made with the tool's name: such ids come back. */
const mayRepeatId = ({ id, name }: NamedCall): boolean =>
  typeof id !== "string" || id === "" || id === "undefined" || id.includes(String(name));

export const partsOf = ({ id, name, args }: NamedCall): readonly string[] => [
  String(id),
  String(name),
  typeof args === "string" ? args : textOf(args),
];

/** Storage may write the names of an object in another order. */
function textOf(args: unknown): string {
  try {
    return canonicalize(args, "args").text;
  } catch {
    return "";
  }
}

const MAX_MESSAGES = 100_000;

/** Knows OpenAI's chat completions and responses, and Anthropic's messages. */
function firstCallIn(messages: unknown): NamedCall | undefined {
  const all = peekItems(messages, MAX_MESSAGES);
  const since = all.slice(all.indexOf(lastByPerson(messages)) + 1);
  return since.map(callIn).find((call) => call !== undefined);
}

function callIn(message: unknown): NamedCall | undefined {
  const [made] = peekItems(peek(message, "tool_calls"), 1);
  if (made !== undefined) {
    const asked = peek(made, "function");
    return { id: peek(made, "id"), name: peek(asked, "name"), args: peek(asked, "arguments") };
  }
  if (peek(message, "type") === "function_call") {
    const id = peek(message, "call_id");
    return { id, name: peek(message, "name"), args: peek(message, "arguments") };
  }
  const used = peekItems(peek(message, "content"), MAX_MESSAGES).find(
    (part) => peek(part, "type") === "tool_use",
  );
  if (used === undefined) return undefined;
  return { id: peek(used, "id"), name: peek(used, "name"), args: peek(used, "input") };
}
