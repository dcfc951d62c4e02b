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
import { canonicalize } from "../../key/canonical.ts";
import { peek, tryCall } from "../../lang/peek.ts";
import { earliest } from "../../recipes/read-list.ts";
import { isDigest } from "../long-arguments.ts";
import { type Answer, plainOf } from "../pipe/message.ts";
import type { ReadWith } from "./rules.ts";

const MAX_ITEMS = 10_000;
/** Whatever it is, it is there. */
const ANY = "$any";

export type CallServer = (name: string, args: object) => Promise<Answer>;

export async function readWith(
  rule: ReadWith,
  query: Pick<StateQuery, "key" | "intent" | "firstSentAt">,
  call: CallServer,
): Promise<Reading<unknown>> {
  if (rule.when && !has(query.intent, rule.when)) return cannotTell("it reads other calls");
  const given = filled(rule.arguments ?? {}, query) as object;
  const wanted = Object.entries(rule.match).map(
    ([path, one]) => [path, filled(one, query)] as const,
  );
  if ([query.intent, ...Object.values(given), ...wanted.map(([, one]) => one)].some(isDigest)) {
    return cannotTell("an argument is too long to be kept, and so to be compared");
  }
  const answer = await call(rule.tool, given);
  if (answer.error !== undefined || peek(answer.result, "isError") === true) {
    return cannotTell("the tool that reads has failed");
  }
  const items = itemsIn(plainOf(answer.result), rule);
  if (!items) return cannotTell("the answer has no list");
  if (wanted.some(([, value]) => value === undefined))
    return cannotTell("the intent lacks a field");
  // What the list does not show of any item cannot be compared. A key may be in none but ours.
  const isShown = ([path, one]: readonly [string, unknown]) =>
    one === query.key || items.some((item) => at(item, path) !== undefined);
  if (items.length > 0 && !wanted.every(isShown)) return cannotTell("the list does not show it");
  const fitting = items.filter((item) =>
    wanted.every(([path, value]) => isSame(at(item, path), value)),
  );
  const { madeAt, id: idPath, pageSize = Number.POSITIVE_INFINITY, newestFirst } = rule;
  const ageOf = (item: unknown) => ageAt(madeAt && at(item, madeAt), query.firstSentAt);
  // Without a time, the match itself says that it is the one.
  const found = madeAt === undefined ? fitting : fitting.filter((item) => ageOf(item) !== "older");
  if (madeAt !== undefined && found.some((item) => ageOf(item) !== "newer")) {
    return cannotTell("one that fits may be older than the call");
  }
  const [one] = found;
  if (found.length > 1) {
    const isOurs = Object.values(rule.match).includes("$key");
    return isOurs ? duplicated(found) : cannotTell("several fit");
  }
  if (one !== undefined) return committed(one, { effectId: idAt(one, idPath) });
  const isWhole =
    items.length < Math.min(pageSize, MAX_ITEMS) ||
    (newestFirst && ageOf(items.at(-1)) === "older");
  return isWhole ? absent() : cannotTell("the list may go on");
}

/** Whether the answer of a call has what makes it a success. */
export const isSuccess = (
  result: unknown,
  succeedsWith: readonly Readonly<Record<string, unknown>>[] | undefined,
): boolean => succeedsWith?.some((wanted) => has(saidIn(result), wanted)) ?? true;

const has = (value: unknown, wanted: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(wanted).every(([path, one]) => {
    const found = at(value, path) ?? undefined;
    return one === ANY ? found !== undefined : isSame(found, one);
  });

/** The id of what a call has made, as its own answer says it: where an item of the list has it, too. */
export function idInAnswer(result: unknown, rule: ReadWith | undefined): string | undefined {
  return idAt(saidIn(result), rule?.id);
}

function idAt(item: unknown, path: string | undefined): string | undefined {
  const id = path === undefined ? undefined : at(item, path);
  return typeof id === "string" || typeof id === "number" ? String(id) : undefined;
}

function filled(value: unknown, query: Pick<StateQuery, "key" | "intent">): unknown {
  if (value === "$key") return query.key;
  if (typeof value === "string" && value.startsWith("$intent.")) {
    return at(query.intent, value.slice("$intent.".length));
  }
  if (Array.isArray(value)) return value.map((one) => filled(one, query));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, query)]));
}

/** Two clocks may differ: what was made shortly before the call, by the server's clock, may be either. */
function ageAt(time: unknown, firstSentAt: number): "older" | "newer" | "unclear" {
  const { from, to } = rangeOf(time);
  if (to < earliest(firstSentAt)) return "older";
  return from >= firstSentAt ? "newer" : "unclear";
}

const HOUR_MS = 3_600_000;
/** A time without a zone may be that of any place. */
const EAST_MS = 14 * HOUR_MS;
const WEST_MS = 12 * HOUR_MS;
/** More seconds than there have been since 1970, or will be for long: these are milliseconds. */
const MOST_SECONDS = 1e11;

/** Between which times it is, in milliseconds. */
function rangeOf(time: unknown): { readonly from: number; readonly to: number } {
  const text = String(time);
  if (typeof time === "number" || /^\d{9,11}(\.\d+)?$/.test(text)) {
    const ms = Number(time) < MOST_SECONDS ? Number(time) * 1_000 : Number(time);
    return { from: ms, to: ms };
  }
  const [day, clock, zone] = [/^\d{4}-\d\d-\d\d/, /\d:\d\d/, /(Z|UTC|GMT|[+-]\d\d:?\d\d)\)?$/i].map(
    (part) => part.test(text),
  );
  if (clock && zone) return { from: Date.parse(text), to: Date.parse(text) };
  // What `Date.parse` takes for a day of this place, or of no place, is left out.
  const ms = day ? Date.parse(clock ? `${text.replace(" ", "T")}Z` : text) : Number.NaN;
  return { from: ms - EAST_MS, to: ms + WEST_MS + (clock ? 0 : 24 * HOUR_MS) };
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

/** Whatever the order of its fields and the Unicode form of its texts: as two intents are the same. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === typeof other && textOf(one) === textOf(other));

const textOf = (value: unknown): string => canonicalize(value, "item").text;

function saidIn(result: unknown): unknown {
  const said = dataOf(result);
  return typeof said === "string" ? tryCall(JSON, "parse", said) : said;
}

/** The list in an answer: at the path, else the answer itself, else its only list. */
function itemsIn(
  result: unknown,
  { items: path, single }: ReadWith,
): readonly unknown[] | undefined {
  const data = saidIn(result);
  const direct = path === undefined ? data : at(data, path);
  if (single) return direct === undefined ? undefined : [direct];
  if (Array.isArray(direct)) return direct.slice(0, MAX_ITEMS);
  if (path !== undefined || typeof data !== "object" || data === null) return undefined;
  const lists = Object.values(data).filter((value) => Array.isArray(value));
  return lists.length === 1 ? lists[0]?.slice(0, MAX_ITEMS) : undefined;
}
