/**
 * The look whether it happened, from the answers to a GET: 404 or an empty list is *absent*, one thing that carries our key
 * is *committed*, several are *duplicated*. Everything else is *cannot tell*.
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
  readonly idOf: (result: R) => string | undefined;
}

export async function findState<I, R>(
  { find, keyForm, send, resultOf, standingOf, idOf }: FindWith<I, R>,
  query: StateQuery<I>,
): Promise<Reading<R>> {
  const { intent } = query;
  const keys = query.keys.map(keyForm);
  const asked = namesIn(find.url).has("key") ? keys : keys.slice(-1);
  const results: R[] = [];
  for (const key of asked) {
    const url = fillUrl(find.url, { ...Object(intent), key }, "intent");
    const answer = await send(url, query).catch(notFound);
    if (!answer) continue;
    const found = itemsOf(answer.body, find.list);
    if (!found) return cannotTell("the answer is not the list, or the thing, that `find` names");
    const isThing = find.list === undefined && !Array.isArray(answer.body);
    const isMine = find.isMine ?? ((one: unknown) => carries(isThing ? ownFields(one) : one, keys));
    const mine = found.filter((one) => isMine(one, query));
    // A service that does not know the filter answers with all it has, or with the first page of it.
    if (found.length > 0 && mine.length === 0) {
      return cannotTell(
        "what was found does not carry the key, or is in a list that `find.list` does not name",
      );
    }
    results.push(...mine.map((one) => resultOf(one, answer)));
  }
  return readingByStanding({ results }, (result) => standingOf(result, intent), idOf);
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

const MOST_VALUES = 20_000;

/** Whether one of the keys is a value in it, as it is and not inside a text: a text may quote the key of another. */
export function carries(found: unknown, keys: readonly string[]): boolean {
  const rest: unknown[] = [found];
  for (let count = 0; rest.length > 0 && count < MOST_VALUES; count += 1) {
    const value = rest.pop();
    if (typeof value === "string" && keys.includes(value)) return true;
    if (typeof value === "object" && value !== null) rest.push(...Object.values(value));
  }
  return false;
}

/** What `find` says as one address, or as options. */
export function findOptions<I>(
  given: string | FindOptions<I> | undefined,
  path: string,
): FindOptions<I> | undefined {
  if (given === undefined || typeof given === "object") return given;
  if (typeof given === "string") return { url: given };
  throw new InvalidInputError(path, "must be an address, or { url, list }.");
}
