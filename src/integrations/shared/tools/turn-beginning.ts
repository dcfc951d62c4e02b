/**
 * Which message began the turn of a conversation, also after it was dropped to save tokens.
 *
 * A framework hands on its messages as the objects they are, and drops the oldest first. So what a call finds behind the
 * last words of a person is known, in this process, to belong to them, and what is left of it later still shows them.
 *
 * @module
 */

import { peekItems } from "../../../lang/peek.ts";
import { lastByPerson } from "./person-messages.ts";

const beginnings = new WeakMap<object, object>();

/** The last message by a person; if there is none, the one that a message which is left was seen behind. */
export function turnBeginning(messages: unknown): object | undefined {
  const all = peekItems(messages, Number.POSITIVE_INFINITY).filter(isObject);
  const last =
    lastByPerson(messages) ?? beginnings.get(all.findLast((one) => beginnings.has(one)) ?? {});
  if (last) for (const one of all.slice(all.indexOf(last) + 1)) beginnings.set(one, last);
  return last;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
