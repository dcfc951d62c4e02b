/**
 * A reader that is data: calls another tool of the same server, and looks in its answer for the one that a call has
 * made.
 *
 * @module
 */

import {
  absent,
  cannotTell,
  committed,
  duplicated,
  type Reading,
  type StateQuery,
} from "../../engine/define/reading.ts";
import { dataOf } from "../../integrations/mcp/result.ts";
import { peek } from "../../lang/peek.ts";
import { type Answer, plainOf } from "../pipe/message.ts";
import type { ReadWith } from "./rules.ts";

const MAX_ITEMS = 10_000;

export type CallServer = (name: string, args: object) => Promise<Answer>;

export async function readWith(
  rule: ReadWith,
  { key, intent }: Pick<StateQuery, "key" | "intent">,
  call: CallServer,
): Promise<Reading<unknown>> {
  const filled = (value: unknown): unknown => {
    if (value === "$key") return key;
    if (typeof value === "string" && value.startsWith("$intent.")) {
      return at(intent, value.slice("$intent.".length));
    }
    if (Array.isArray(value)) return value.map(filled);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one)]));
  };
  const answer = await call(rule.tool, filled(rule.arguments ?? {}) as object);
  if (answer.error !== undefined || peek(answer.result, "isError") === true) {
    return cannotTell("the tool that reads has failed");
  }
  const items = itemsIn(plainOf(answer.result), rule.items);
  if (!items) return cannotTell("the answer has no list");
  const wanted = Object.entries(rule.match).map(([path, value]) => [path, filled(value)] as const);
  if (wanted.some(([, value]) => value === undefined))
    return cannotTell("the intent lacks a field");
  const found = items.filter((item) =>
    wanted.every(([path, value]) => isSame(at(item, path), value)),
  );
  const [one] = found;
  if (found.length > 1) return duplicated(found);
  if (one !== undefined) {
    const id = rule.id === undefined ? undefined : at(one, rule.id);
    const isId = typeof id === "string" || typeof id === "number";
    return committed(one, { effectId: isId ? String(id) : undefined });
  }
  const mayGoOn = rule.pageSize !== undefined && items.length >= rule.pageSize;
  return mayGoOn ? cannotTell("the list may go on") : absent();
}

/** The value at a path of names and indexes, e.g. `metadata.reference`. */
function at(value: unknown, path: string): unknown {
  let found = value;
  for (const name of path.split(".")) {
    const isOwn = typeof found === "object" && found !== null && Object.hasOwn(found, name);
    found = isOwn ? peek(found, name) : undefined;
  }
  return found;
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));

/** The list in an answer: at the path, else the answer itself, else its only list. */
function itemsIn(result: unknown, path: string | undefined): readonly unknown[] | undefined {
  const said = dataOf(result);
  const data = typeof said === "string" ? parsed(said) : said;
  const direct = path === undefined ? data : at(data, path);
  if (Array.isArray(direct)) return direct.slice(0, MAX_ITEMS);
  if (path !== undefined || typeof data !== "object" || data === null) return undefined;
  const lists = Object.values(data).filter((value) => Array.isArray(value));
  return lists.length === 1 ? lists[0]?.slice(0, MAX_ITEMS) : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
