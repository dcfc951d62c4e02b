/**
 * The look whether it happened, from the answers to a GET: 404 or an empty list is *absent*, one thing that carries our key
 * is *committed*, several are *duplicated*. Everything else is *cannot tell*: also an answer that only gives the key back.
 *
 * @module
 */

import { cannotTell, type Reading, type StateQuery } from "../engine/define/reading.ts";
import { InvalidInputError } from "../errors.ts";
import { peek } from "../lang/peek.ts";
import { fillUrl, namesIn } from "./fill-url.ts";
import { type HttpAnswer, HttpAnswerError } from "./request.ts";
import { readingByStanding, type Standing } from "./standing.ts";

/** How what was made is found again. */
export interface FindOptions<I> {
  /** An address with `{key}`, or names of the intent, in braces. */
  readonly url: string;
  /** Where the list is in the answer, e.g. `"data"` or `"data.items"`. @default the answer itself, a list or the thing */
  readonly list?: string | undefined;
  /**
   * Whether a thing is this operation's own. @default one of its fields, at any depth, is the key: similar things are no proof
   */
  readonly isMine?: ((found: unknown, query: StateQuery<I>) => boolean) | undefined;
}

export interface FindWith<I, R> {
  readonly find: FindOptions<I>;
  readonly keyForm: (key: string) => string;
  readonly send: (url: URL, query: StateQuery<I>) => Promise<HttpAnswer>;
  readonly resultOf: (found: unknown, answer: HttpAnswer) => R;
  readonly standingOf: (result: R, intent: I) => Standing;
  /** The id of what was made, where the tool says how to read it. */
  readonly idOf: ((result: R) => string | undefined) | undefined;
}

export async function findState<I, R>(
  { find, keyForm, send, resultOf, standingOf, idOf }: FindWith<I, R>,
  query: StateQuery<I>,
): Promise<Reading<R>> {
  const { intent } = query;
  const keys = query.keys.map(keyForm);
  const isAskedByKey = namesIn(find.url).has("key");
  const asked = isAskedByKey ? keys : keys.slice(-1);
  const [place = ""] = find.url.split("?", 1);
  const isAtKey = namesIn(place).has("key");
  const results: R[] = [];
  for (const key of asked) {
    const url = fillUrl(find.url, { ...Object(intent), key }, "intent");
    const answer = await send(url, query).catch(notFound);
    if (!answer) continue;
    const found = itemsOf(answer.body, find.list);
    if (!found) return cannotTell("the answer is not the list, or the thing, that `find` names");
    const isThing = find.list === undefined && !Array.isArray(answer.body);
    // The list may be empty, and the key in it that of the question: a filter that is given back.
    if (isThing && !find.isMine && !isAtKey && hasList(answer.body)) {
      return cannotTell("the answer has a list in it, which `find.list` does not name");
    }
    const isMine = find.isMine ?? ((one: unknown) => carries(isThing ? ownFields(one) : one, keys));
    const mine = found.filter((one) => isMine(one, query));
    // A service that does not know the filter answers with all it has, or with the first page of it.
    if (found.length > 0 && mine.length === 0) {
      return cannotTell(
        "what was found does not carry the key, or is in a list that `find.list` does not name",
      );
    }
    const made = mine.map((one) => resultOf(one, answer));
    if (isThing && !find.isMine && isAskedByKey) {
      // In its own place the key may be the id as well.
      const said = [...(isAtKey ? [] : keys), ...Object.values(Object(intent))];
      const hasId = idOf
        ? made.every((one) => idOf(one) !== undefined)
        : hasOwnId(found[0], keys, said);
      if (!hasId) return cannotTell("the answer has the key in it, and no id of what was made");
    }
    results.push(...made);
  }
  const standing = (result: R) => standingOf(result, intent);
  return readingByStanding({ results }, standing, idOf ?? (() => undefined));
}

function notFound(error: unknown): undefined {
  if (error instanceof HttpAnswerError && error.status === 404) return undefined;
  throw error;
}

/** `undefined`: it is neither a list nor a thing. */
function itemsOf(body: unknown, list: string | undefined): readonly unknown[] | undefined {
  const found = list === undefined ? body : list.split(".").reduce(peek, body);
  if (Array.isArray(found)) return found;
  return list === undefined && typeof found === "object" && found !== null ? [found] : undefined;
}

/**
 * Without its name a list inside the answer is not looked into: `{ data: [thing] }` is not the thing.
 */
const ownFields = (found: unknown): readonly unknown[] =>
  Object.values(Object(found)).filter((value) => !Array.isArray(value));

const ID = /^_?id$|^(?:uuid|guid|sid)$|_id$|[a-z]I[dD]$/;
const DEEPEST_THING = 4;

/**
 * Whether what carries the key has an id that was not part of the question. "There is none with this key" is answered with
 * a 200, too, and then has the key in it as the thing has.
 */
function hasOwnId(
  found: unknown,
  keys: readonly string[],
  said: readonly unknown[],
  depth = 1,
): boolean {
  if (typeof found !== "object" || found === null || Array.isArray(found)) return false;
  const isId = ([name, value]: [string, unknown]) =>
    ID.test(name) &&
    ((typeof value === "string" && value !== "") || typeof value === "number") &&
    !said.includes(value);
  if (Object.entries(found).some(isId) && carries(ownFields(found), keys)) return true;
  const isDeep = depth >= DEEPEST_THING;
  return !isDeep && Object.values(found).some((one) => hasOwnId(one, keys, said, depth + 1));
}

const MOST_VALUES = 20_000;

/** Whether there is a list of things in it, at any depth; an empty one may be that. */
function hasList(found: unknown): boolean {
  const isList = (value: unknown) =>
    Array.isArray(value) && value.every((one) => typeof one === "object" && one !== null);
  return someValue(found, isList);
}

/** Whether one of the keys is a value in it, as it is and not inside a text: a text may quote the key of another. */
export const carries = (found: unknown, keys: readonly string[]): boolean =>
  someValue(found, (value) => typeof value === "string" && keys.includes(value));

function someValue(found: unknown, is: (value: unknown) => boolean): boolean {
  const rest: unknown[] = [found];
  for (let count = 0; rest.length > 0 && count < MOST_VALUES; count += 1) {
    const value = rest.pop();
    if (is(value)) return true;
    if (typeof value === "object" && value !== null) rest.push(...Object.values(value));
  }
  return false;
}

/** What `find` says as one address, or as options, in an object of our own. */
export function findOptions<I>(
  given: string | FindOptions<I> | undefined,
  path: string,
): FindOptions<I> | undefined {
  if (given === undefined) return undefined;
  if (typeof given === "string") return { url: given };
  if (typeof given === "object" && given !== null) {
    const { url, list, isMine } = given;
    return { url, list, isMine };
  }
  throw new InvalidInputError(path, "must be an address, or { url, list }.");
}
