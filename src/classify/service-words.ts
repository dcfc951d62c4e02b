/**
 * What a service says in a failed answer, in its own words: `error.message` (Stripe, OpenAI), `detail` of a problem
 * document, the first of `errors`, or a short plain text, which is also what an MCP tool says. Never a page of HTML.
 *
 * @module
 */

import { peek, peekItems } from "../lang/peek.ts";
import { maskSecrets } from "./mask-secrets.ts";
import { mcpErrorText } from "./mcp.ts";
import type { Thrown } from "./thrown.ts";

const MAX_DEPTH = 3;
const LONGEST_BODY = 65_536;
const LONGEST_WORDS = 2_000;

/** Where clients keep the body of an answer in the error they throw. */
const BODIES = ["error", "raw", "data", "body", "responseBody", "parsedBody"];
const BODIES_OF_RESPONSE = ["data", "body", "_data"];

/** What services call the sentence, the most telling name first. */
const SENTENCES = ["message", "detail", "error_description", "error_message", "description"];
const NESTS = ["error", "errors", "fault", "data", "body"];
const TITLES = ["title", "error", "reason"];

/** `body` is the answer itself, where it was seen; else it is looked for in what was thrown. Masked. */
export function serviceWords(thrown: Thrown | undefined, body: unknown): string | undefined {
  const words = wordsIn(body) ?? (thrown && wordsOfError(thrown));
  return words === undefined ? undefined : maskSecrets(words);
}

/** Without a status it is no answer of a service. */
function wordsOfError({ error, status, isMcpAnswer }: Thrown): string | undefined {
  if (isMcpAnswer) return wordsIn(mcpErrorText(error));
  if (status === undefined) return undefined;
  const response = peek(error, "response");
  const bodies = [
    ...BODIES.map((name) => peek(error, name)),
    ...BODIES_OF_RESPONSE.map((name) => peek(response, name)),
  ];
  for (const body of bodies) {
    const words = wordsIn(body);
    if (words !== undefined) return words;
  }
  return undefined;
}

function wordsIn(body: unknown, depth = 0): string | undefined {
  if (typeof body === "string") return depth === 0 ? wordsOfText(body) : sentence(body);
  if (typeof body !== "object" || body === null || depth > MAX_DEPTH) return undefined;
  if (Array.isArray(body)) return wordsIn(peekItems(body, 1)[0], depth + 1);
  const told = SENTENCES.map((name) => sentence(peek(body, name))).find(Boolean);
  if (told) return told;
  for (const name of NESTS) {
    const nested = peek(body, name);
    const words = typeof nested === "object" ? wordsIn(nested, depth + 1) : undefined;
    if (words) return words;
  }
  return TITLES.map((name) => sentence(peek(body, name))).find(Boolean);
}

function wordsOfText(text: string): string | undefined {
  const trimmed = text.slice(0, LONGEST_BODY).trim();
  if (!trimmed.startsWith("{") && !trimmed.startsWith("[")) return sentence(trimmed);
  try {
    return wordsIn(JSON.parse(trimmed), 1);
  } catch {
    return undefined;
  }
}

/** A page, or what is no text at all, is not a sentence. */
function sentence(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  const trimmed = text.trim();
  if (trimmed === "" || trimmed.length > LONGEST_WORDS) return undefined;
  const isPage = trimmed.startsWith("<") || /<(?:!doctype|html|body|head)\b/i.test(trimmed);
  return isPage || trimmed.includes("\uFFFD") ? undefined : trimmed;
}
