/**
 * What persons have said in a conversation, message by message, whatever framework wrote it down.
 *
 * Only their content counts. Ids, timestamps, cache marks, system prompts and the assistant's own words
 * change from run to run; tool results travel under a person's role in some formats and are no words of
 * theirs.
 *
 * @module
 */

import { hash } from "node:crypto";
import { peek, peekItems, tryCall } from "../classify/peek.ts";
import { digestText } from "../key/digest.ts";

const PERSONS = new Set<unknown>(["user", "human"]);
const NO_WORDS = /(?:tool[-_]result|tool-approval-response|_call_output)$/;
const NOT_CONTENT = new Set([
  "id",
  "createdAt",
  "created_at",
  "timestamp",
  "metadata",
  "providerOptions",
  "providerMetadata",
  "experimental_providerMetadata",
  "cache_control",
  "cacheControl",
]);
const TEXTS = new Set<unknown>([undefined, "text", "input_text"]);
const MAX_DEPTH = 12;
const MAX_MESSAGES = 100_000;

/** One digest for each message by a person, in order. A bare string is one message. */
export function personsWords(messages: unknown): readonly string[] {
  if (typeof messages === "string") return [digestOf([messages])];
  return peekItems(messages, MAX_MESSAGES)
    .filter(isPersons)
    .map(contentOf)
    .filter((parts) => parts !== undefined)
    .map(digestOf);
}

/** The last message by a person, as the object it is. */
export function lastByPerson(messages: unknown): object | undefined {
  const spoken = (message: unknown) => isPersons(message) && contentOf(message) !== undefined;
  return peekItems(messages, MAX_MESSAGES).findLast(spoken) as object | undefined;
}

/** `role` in most formats, `type` or `getType()` in LangChain's. */
function isPersons(message: unknown): boolean {
  const role = peek(message, "role");
  if (role !== undefined) return PERSONS.has(role);
  return PERSONS.has(tryCall(message, "getType") ?? peek(message, "type"));
}

/** Its parts; `undefined` if it only carries the results of tools. */
function contentOf(message: unknown): readonly unknown[] | undefined {
  const content = peek(message, "content") ?? peek(message, "parts");
  if (!Array.isArray(content)) return [content];
  const words = content.filter((part) => !NO_WORDS.test(String(peek(part, "type"))));
  return words.length === 0 && content.length > 0 ? undefined : words;
}

const digestOf = (parts: readonly unknown[]): string =>
  digestText("words", ...parts.map((part) => JSON.stringify(plain(part, 0)) ?? ""));

/** The value without what is not content, in one order. A text part is its text. */
function plain(value: unknown, depth: number): unknown {
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  const text = TEXTS.has(peek(value, "type")) ? peek(value, "text") : undefined;
  if (typeof text === "string") return text;
  if (depth >= MAX_DEPTH) return null;
  if (value instanceof URL) return value.href;
  if (value instanceof Date) return value.getTime();
  if (value instanceof ArrayBuffer) return plain(new Uint8Array(value), depth);
  if (ArrayBuffer.isView(value)) {
    return hash("sha256", new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  }
  if (value instanceof Blob) return [value.type, value.size, peek(value, "name")];
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1));
  const names = Object.keys(value).filter((name) => !NOT_CONTENT.has(name));
  return Object.fromEntries(
    names.sort().map((name) => [name, plain(peek(value, name), depth + 1)]),
  );
}
