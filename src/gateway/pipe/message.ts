/**
 * What a line is: a request, a notification, an answer, several at once, or nothing that is known here.
 *
 * @module
 */

import { isJsonObject } from "../../key/json.ts";

export type Id = string | number;

export type Message =
  | {
      readonly kind: "request";
      readonly id: Id;
      readonly method: string;
      readonly params: Fields;
    }
  | { readonly kind: "notification"; readonly method: string; readonly params: Fields }
  | { readonly kind: "answer"; readonly id: Id; readonly answer: Answer }
  /** Several messages in one, as older revisions allow. */
  | { readonly kind: "batch"; readonly items: readonly unknown[] }
  /** With a method: its id is none. */
  | { readonly kind: "other"; readonly method?: string | undefined };

export type Request = Extract<Message, { kind: "request" }>;

export type Fields = Readonly<Record<string, unknown>>;

/** What is answered to a request: exactly one of the two. */
export type Answer =
  | { readonly result: unknown; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: unknown };

export const NOTHING: Fields = {};

export const fieldsOf = (value: unknown): Fields =>
  isJsonObject(value as never) ? (value as Fields) : NOTHING;

/** The value of a line; `undefined` if it is no JSON. */
export function parseLine(bytes: Buffer): unknown {
  try {
    return parseExactly(bytes.toString("utf8"));
  } catch {
    return undefined;
  }
}

export function messageOf(value: unknown): Message {
  if (Array.isArray(value)) return { kind: "batch", items: value };
  const { id, method, params, result, error } = fieldsOf(value);
  if (typeof method === "string") {
    if (id === undefined) return { kind: "notification", method, params: fieldsOf(params) };
    if (!isId(id)) return { kind: "other", method };
    return { kind: "request", id, method, params: fieldsOf(params) };
  }
  if (!isId(id) || (result === undefined && error === undefined)) return { kind: "other" };
  return { kind: "answer", id, answer: error === undefined ? { result } : { error } };
}

const isId = (id: unknown): id is Id => typeof id === "string" || typeof id === "number";

export const textOf = (message: object): string => JSON.stringify(message);

export const requestText = (id: Id, method: string, params: object): string =>
  textOf({ jsonrpc: "2.0", id, method, params });

export const answerText = (id: Id, answer: Answer): string =>
  textOf({ jsonrpc: "2.0", id, ...answer });

/** A number that a double does not hold as it was written. Made so that it is written again as it was. */
interface ExactNumber {
  readonly rawJSON: string;
}

const { isRawJSON, rawJSON } = JSON as unknown as {
  isRawJSON(value: unknown): value is ExactNumber;
  rawJSON(text: string): ExactNumber;
};

type Reviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;

const LONG = /\d{16}/;

/** JSON, but that numbers with more digits than a double has are kept as they were written. */
function parseExactly(text: string): unknown {
  if (!LONG.test(text)) return JSON.parse(text);
  const revive: Reviver = (_, value, { source }) =>
    typeof value === "number" && source !== undefined && source !== String(value)
      ? rawJSON(source)
      : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** The same as plain data. A number that is no double becomes its text: two of them must not become one. */
export function plainOf(value: unknown): unknown {
  if (isRawJSON(value)) return value.rawJSON;
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plainOf(one)]));
}
