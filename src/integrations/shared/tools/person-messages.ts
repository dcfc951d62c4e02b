/**
 * What persons have said in a conversation, message by message, whatever framework wrote it down.
 *
 * Only their content counts. Ids, timestamps, cache marks, system prompts and the assistant's own words
 * change from run to run; tool results travel under a person's role in some formats and are no words of
 * theirs. So of a message's parts only those count that are known to be a person's: text, pictures, sound and
 * files. A part of an unknown type is left out, because one that changes from run to run would make every run
 * another request, and fire again.
 *
 * @module
 */

import { hash } from "node:crypto";
import { digestText } from "../../../key/digest.ts";
import { peek, peekItems, tryCall } from "../../../lang/peek.ts";

const PERSONS = new Set<unknown>(["user", "human"]);
/** Parts by a person, by their `type`. */
const TYPES = new Set<unknown>([
  "text",
  "input_text",
  "text-plain",
  "image",
  "image_url",
  "input_image",
  "audio",
  "input_audio",
  "video",
  "video_url",
  "media",
  "file",
  "input_file",
  "document",
  "container_upload",
]);
/** The same in formats whose parts have no `type` (Bedrock, Gemini): by the field that holds them. */
const FIELDS = [
  "text",
  "image",
  "audio",
  "video",
  "document",
  "guardContent",
  "inlineData",
  "inline_data",
  "fileData",
  "file_data",
];
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
export function personMessages(messages: unknown): readonly string[] {
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

/** Its parts by a person; `undefined` if it has none, e.g. because it only carries the results of tools. */
function contentOf(message: unknown): readonly unknown[] | undefined {
  const content = peek(message, "content") ?? peek(message, "parts");
  if (typeof content === "string") return [content];
  const parts = Array.isArray(content) ? content : peekItems(peek(content, "parts"), MAX_MESSAGES);
  const words = parts.filter(isPersonsPart);
  return words.length === 0 ? undefined : words;
}

function isPersonsPart(part: unknown): boolean {
  if (typeof part === "string") return true;
  const type = peek(part, "type");
  if (type !== undefined) return TYPES.has(type);
  return FIELDS.some((field) => peek(part, field) !== undefined);
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
