/**
 * What persons have said in a conversation, message by message, whatever framework wrote it down.
 *
 * Only their content counts. Ids, timestamps, cache marks, system prompts and the assistant's own words
 * change from run to run; tool results travel under a person's role in some formats and are no words of
 * theirs. So of a message's parts only those count that are known to be a person's: text, pictures, sound and
 * files. A part of an unknown type is left out, because one that changes from run to run would make every run
 * another request, and fire again.
 *
 * White space does not count, nor how a text is split into parts, nor the form of an attachment (see `attachment.ts`).
 *
 * @module
 */

import { digestText } from "../../../key/digest.ts";
import { peek, peekItems, tryCall } from "../../../lang/peek.ts";
import { attachmentDigest, foldSpace } from "./attachment.ts";

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
const TEXTS = new Set<unknown>([undefined, "text", "input_text"]);
const MAX_MESSAGES = 100_000;

/** One digest for each message by a person, in order. A bare string is one message. */
export async function personMessages(messages: unknown): Promise<readonly string[]> {
  if (typeof messages === "string") return [await digestOf([messages])];
  const said = peekItems(messages, MAX_MESSAGES)
    .filter(isPersons)
    .map(contentOf)
    .filter((parts) => parts !== undefined);
  return Promise.all(said.map(digestOf));
}

/** The last message by a person, as the object it is. */
export function lastByPerson(messages: unknown): object | undefined {
  const spoken = (message: unknown) => isPersons(message) && contentOf(message) !== undefined;
  return peekItems(messages, MAX_MESSAGES).findLast(spoken) as object | undefined;
}

/** What a program wrote in a person's place: the summary of a conversation that LangChain has shortened. */
const isMadeUp = (message: unknown): boolean =>
  peek(peek(message, "additional_kwargs"), "lc_source") !== undefined;

/** `role` in most formats, `type` or `getType()` in LangChain's. */
function isPersons(message: unknown): boolean {
  if (isMadeUp(message)) return false;
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

/** All its text in one, and each attachment by its content: parts are split and joined on their way through storage. */
async function digestOf(parts: readonly unknown[]): Promise<string> {
  const texts = parts.map(textOf);
  const attached = parts.filter((_, at) => texts[at] === undefined);
  const text = foldSpace(texts.join(""));
  return digestText("words", text, ...(await Promise.all(attached.map(attachmentDigest))));
}

/** `undefined` if it is an attachment. */
function textOf(part: unknown): string | undefined {
  if (typeof part === "string") return part;
  const text = TEXTS.has(peek(part, "type")) ? peek(part, "text") : undefined;
  return typeof text === "string" ? text : undefined;
}
