/**
 * Writes JSON, and refuses most of what `JSON.stringify` would drop or change: a replayed result is to equal the result of
 * the first call. Left out, as there: fields that are `undefined`, symbol keys, and what an instance hides beside fields of
 * its own.
 *
 * Dates, other values with `toJSON`, and instances with their own data are written as `JSON.stringify`
 * writes them. It never throws, and never does more work than `maxBytes` allows.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { isBoxedPrimitive, isMap, isNativeError, isSet } from "node:util/types";
import { isPlainText } from "../../key/plain-text.ts";

export type Written =
  | { readonly tag: "text"; readonly text: string }
  | { readonly tag: "undefined" }
  /** `why` names the place and the kind of value, never the value. */
  | { readonly tag: "refused"; readonly why: string };

const MAX_DEPTH = 500;
const MAX_PATH_CHARS = 120;
const PLAIN_KEY = /^[A-Za-z_$][\w$]{0,31}$/;

/** An object or array that contains the current value, and how it is reached in there. */
interface Level {
  readonly above: Level | undefined;
  readonly depth: number;
  readonly value: object;
  at: string | number;
}

interface Walk {
  readonly maxBytes: number;
  /** The innermost of those around the current value. */
  level: Level | undefined;
  /** Characters written so far: a lower bound of the bytes. */
  chars: number;
}

type Part = string | undefined | { readonly why: string };

export function writeJson(value: unknown, maxBytes: number): Written {
  const part = write(value, "", { maxBytes, level: undefined, chars: 0 });
  if (part === undefined) return { tag: "undefined" };
  if (typeof part !== "string") return { tag: "refused", why: part.why };
  if (Buffer.byteLength(part) > maxBytes) return { tag: "refused", why: tooLarge(maxBytes) };
  return { tag: "text", text: part };
}

const tooLarge = (maxBytes: number): string => `larger than ${maxBytes} bytes`;

function no({ level: innermost }: Walk, rule: string): Part {
  let way = "";
  for (let level = innermost; level; level = level.above) way = shown(level.at) + way;
  const at = `value${way}`;
  return { why: `${at.length > MAX_PATH_CHARS ? `${at.slice(0, MAX_PATH_CHARS)}…` : at}: ${rule}` };
}

/** A key may be content (an address, a name): only what looks like a field name is shown. */
function shown(name: string | number): string {
  if (typeof name === "number") return `[${name}]`;
  return PLAIN_KEY.test(name) ? `.${name}` : "[…]";
}

function write(given: unknown, key: string | number, walk: Walk): Part {
  const { level } = walk;
  try {
    const seen = typeof given === "object" && given !== null ? asJsonSeesIt(given, key) : given;
    const part = writeBare(seen, walk);
    // Only primitives are counted, so that a nested value is not counted again with its parent.
    if (typeof part === "string" && (typeof seen !== "object" || seen === null)) {
      walk.chars += part.length;
    }
    return walk.chars > walk.maxBytes ? { why: tooLarge(walk.maxBytes) } : part;
  } catch {
    walk.level = level;
    return no(walk, "reading it throws");
  }
}

function asJsonSeesIt(
  value: object & { readonly toJSON?: unknown },
  key: string | number,
): unknown {
  const { toJSON } = value;
  if (typeof toJSON === "function") return Reflect.apply(toJSON, value, [String(key)]);
  return isBoxedPrimitive(value) ? value.valueOf() : value;
}

function writeBare(value: unknown, walk: Walk): Part {
  switch (typeof value) {
    case "undefined":
      return undefined;
    case "string":
      // A text that cannot fit is not escaped first.
      return value.length > walk.maxBytes ? { why: tooLarge(walk.maxBytes) } : quoted(value);
    case "boolean":
      return String(value);
    case "number":
      if (!Number.isFinite(value)) return no(walk, "not a finite number");
      return Object.is(value, -0) ? "-0" : String(value);
    case "object":
      return value === null ? "null" : writeObject(value, walk);
    default:
      return no(walk, `a ${typeof value}`);
  }
}

/** To find that a text needs no escapes is faster than to escape it. */
const quoted = (text: string): string => (isPlainText(text) ? `"${text}"` : JSON.stringify(text));

function writeObject(value: object, walk: Walk): Part {
  const { level: above } = walk;
  for (let level = above; level; level = level.above) {
    if (level.value === value) return no(walk, "it contains itself");
  }
  const depth = above ? above.depth + 1 : 1;
  if (depth > MAX_DEPTH) return no(walk, `nested deeper than ${MAX_DEPTH}`);
  if (isOpaque(value)) return no(walk, "an instance whose content JSON cannot carry");
  const level: Level = { above, depth, value, at: "" };
  walk.level = level;
  const part = Array.isArray(value)
    ? writeArray(value, level, walk)
    : writeFields(value, level, walk);
  walk.level = above;
  return part;
}

/** Whether nothing of its content would be written. */
function isOpaque(value: object): boolean {
  if (Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype) return false;
  if (isMap(value) || isSet(value) || isNativeError(value)) return true;
  if (ArrayBuffer.isView(value)) return true;
  const isPlain =
    prototype === null ||
    // A plain object of another realm has another `Object.prototype`, which has no prototype.
    (typeof prototype === "object" && Object.getPrototypeOf(prototype) === null);
  return !isPlain && Object.keys(value).length === 0;
}

function writeArray(value: readonly unknown[], level: Level, walk: Walk): Part {
  let text = "";
  for (let index = 0; index < value.length; index++) {
    level.at = index;
    const part = write(value[index], index, walk);
    if (part === undefined) return no(walk, "undefined inside an array");
    if (typeof part !== "string") return part;
    text = index === 0 ? `[${part}` : `${text},${part}`;
    walk.chars += 1;
  }
  return text === "" ? "[]" : `${text}]`;
}

function writeFields(value: object, level: Level, walk: Walk): Part {
  let text = "";
  let before = '{"';
  for (const key of Object.keys(value)) {
    level.at = key;
    const part = writeField(value, key, walk);
    if (part === undefined) continue;
    if (typeof part !== "string") return part;
    const escaped = isPlainText(key) ? key : JSON.stringify(key).slice(1, -1);
    text = `${text}${before}${escaped}":${part}`;
    before = ',"';
    walk.chars += key.length + 4;
  }
  return text === "" ? "{}" : `${text}}`;
}

function writeField(value: object, key: string, walk: Walk): Part {
  try {
    return write((value as Record<string, unknown>)[key], key, walk);
  } catch {
    return no(walk, "reading it throws");
  }
}
