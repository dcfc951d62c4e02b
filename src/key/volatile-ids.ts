/**
 * Finds values in an intent that change with every try, and so would make the same intent look new.
 *
 * The id of a tool call always changes, so it is an error. A uuid or a timestamp may be intended;
 * it is reported only when two operations differ in nothing else.
 *
 * @module
 */

import { putBounded } from "../lang/bounded.ts";
import { digestText } from "./digest.ts";
import type { Json } from "./json.ts";
import { isJsonObject } from "./json.ts";
import { showPath } from "./show-path.ts";

/** How providers write the ids of tool calls and completions. */
const CALL_ID = /^(?:call_|toolu_|chatcmpl-)([\w-]+)$/;
const DIGIT = /[0-9]/;
/**
 * Letters alone count as an id only if they are longer than words are: `call_center` is an ordinary
 * value.
 */
const LONGER_THAN_WORDS = 20;

/** A short number is a counter, as in JSON-RPC; matching it would refuse every equal quantity. */
const COUNTER = /^[0-9]{1,7}$/;

/**
 * The path inside the intent (`.items[0].id`) of the first string that is one of `current`, the ids
 * of this call, or is shaped like a tool-call id and so is not one of the service's own. A bare string has the
 * path `""`.
 */
export function findVolatileId(
  intent: Json,
  current: readonly string[],
  areOwn = false,
): string | undefined {
  if (typeof intent === "string") return isVolatile(intent, current, areOwn) ? "" : undefined;
  if (typeof intent !== "object" || intent === null) return undefined;
  if (!isJsonObject(intent)) {
    for (let index = 0; index < intent.length; index += 1) {
      const inside = findVolatileId(intent[index] ?? null, current, areOwn);
      if (inside !== undefined) return showPath("", [index]) + inside;
    }
    return undefined;
  }
  for (const name in intent) {
    const inside = findVolatileId(intent[name] ?? null, current, areOwn);
    if (inside !== undefined) return showPath("", [name]) + inside;
  }
  return undefined;
}

const isVolatile = (text: string, current: readonly string[], areOwn: boolean): boolean =>
  (!areOwn && looksLikeCallId(text)) ||
  (text !== "" && current.includes(text) && !COUNTER.test(text));

function looksLikeCallId(text: string): boolean {
  const rest = CALL_ID.exec(text)?.[1];
  return rest !== undefined && (rest.length >= LONGER_THAN_WORDS || DIGIT.test(rest));
}

// Each repetition in the patterns is bounded, so matching takes linear time.
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Starts with a rare character, so a text without a uuid is skipped ten times as fast. */
const MIDDLE_OF_UUID = /-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-/i;
const DATE_TIME =
  /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?/gi;
/**
 * Seconds or milliseconds since the epoch. Until 2033 they start with 1, which telephone numbers
 * seldom do.
 */
const EPOCH = /(?<![\w.])1\d{9}(?:\d{3})?(?:\.\d{1,9})?(?!\w)/g;

/** Each of the three contains one of these. Most texts contain none, and are then searched once. */
const PART_OF_ANY = /-[0-9a-f]{4}-|-\d\d[T ]|1\d{9}/i;

/** The text with each uuid and timestamp replaced by a placeholder. */
export function maskVolatile(intentText: string): string {
  if (!PART_OF_ANY.test(intentText)) return intentText;
  const text = MIDDLE_OF_UUID.test(intentText) ? intentText.replace(UUID, "<uuid>") : intentText;
  return text.replace(DATE_TIME, "<time>").replace(EPOCH, "<time>");
}

const MAX_SEEN = 1_000;

/**
 * Adds the operation to `seen` and returns the id of another one that differs from it only in uuids
 * or timestamps.
 */
export function noticeVolatile(
  seen: Map<string, string>,
  tool: string,
  id: string,
  intentText: string,
): string | undefined {
  const masked = maskVolatile(intentText);
  if (masked === intentText) return undefined;
  const form = digestText("volatile", tool, masked);
  const first = seen.get(form);
  if (first !== undefined) return first === id ? undefined : first;
  putBounded(seen, form, id, MAX_SEEN);
  return undefined;
}
