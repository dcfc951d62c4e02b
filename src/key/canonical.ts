/**
 * The canonical JSON text of a value: RFC 8785 after Unicode NFC, so that equal intents get equal
 * keys.
 *
 * One walk checks, copies and writes the value. So text and copy come from the same reads, even if the caller
 * changes the value later or a proxy answers differently the second time. The copy keeps the Unicode form that it was
 * given; only the text is NFC.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import { type Json, whyNotPlain } from "./json.ts";
import { isPlainText } from "./plain-text.ts";
import { showPath } from "./show-path.ts";
import { sortNames } from "./sort-names.ts";

export interface Canonical {
  /** The RFC 8785 text. */
  readonly text: string;
  /** A deep-frozen copy that `text` describes. */
  readonly value: Json;
}

/** How large a value may be. Beyond a limit it is refused, never cut. */
export interface Limits {
  /** How deep objects and arrays may be nested. @default 64 */
  readonly depth: number;
  /** Values in total, at every level. @default 100_000 */
  readonly nodes: number;
  /** Bytes of the text in UTF-8. @default 1_048_576 */
  readonly bytes: number;
}

export const DEFAULT_LIMITS: Limits = { depth: 64, nodes: 100_000, bytes: 1_048_576 };

/** An object or array that contains the current value, and how it is reached in there. */
interface Level {
  readonly above: Level | undefined;
  readonly depth: number;
  readonly value: object;
  /** The name or index; `undefined` while the object or array itself is looked at. */
  at: string | number | undefined;
}

interface Walk {
  readonly at: string;
  readonly limits: Limits;
  /** The innermost of those around the current value. */
  level: Level | undefined;
  /** How many values were visited. */
  nodes: number;
  /** How many characters of strings were visited: bounds the work before the text is complete. */
  characters: number;
  /** The copy of the value visited last. Kept here because the visit itself returns the text. */
  copy: Json;
}

/** `at` names the value in errors, e.g. `intent`. Throws `InvalidInputError`; runs no getter and no `toJSON`. */
export function canonicalize(
  value: unknown,
  at: string,
  limits: Limits = DEFAULT_LIMITS,
): Canonical {
  const walk: Walk = { at, limits, level: undefined, nodes: 0, characters: 0, copy: null };
  try {
    const text = visit(walk, value);
    // A UTF-16 unit takes three bytes at most, so a short text need not be counted.
    if (text.length * 3 > limits.bytes && Buffer.byteLength(text) > limits.bytes) tooLong(walk);
    return { text, value: walk.copy };
  } catch (error) {
    if (error instanceof InvalidInputError) throw error;
    // Only a proxy throws here. What it threw is left out: it may contain what must not be logged.
    return refuse(walk, "must be readable, but reading it threw an error.");
  }
}

function visit(walk: Walk, value: unknown): string {
  walk.nodes += 1;
  if (walk.nodes > walk.limits.nodes) tooMany(walk);
  switch (typeof value) {
    case "string":
      return visitString(walk, value);
    case "number":
      if (!Number.isFinite(value)) refuse(walk, `must be a finite number, not ${value}.`);
      walk.copy = value === 0 ? 0 : value;
      return String(value);
    case "boolean":
      walk.copy = value;
      return value ? "true" : "false";
    case "object":
      if (value !== null) return visitNested(walk, value);
      walk.copy = null;
      return "null";
    case "bigint":
      return refuse(walk, "must be JSON, not a bigint. Pass it as a string.");
    default:
      return refuse(walk, `must be JSON, not ${typeof value}.`);
  }
}

function visitNested(walk: Walk, value: object): string {
  const { level: above, limits } = walk;
  for (let level = above; level; level = level.above) {
    if (level.value === value) refuse(walk, "must not contain itself.");
  }
  const depth = above ? above.depth + 1 : 1;
  if (depth > limits.depth) {
    refuse(walk, `must not be nested deeper than ${limits.depth} levels.`);
  }
  const level: Level = { above, depth, value, at: undefined };
  walk.level = level;
  const text = Array.isArray(value)
    ? visitArray(walk, level, value)
    : visitObject(walk, level, value);
  walk.level = above;
  return text;
}

function visitArray(walk: Walk, level: Level, array: readonly unknown[]): string {
  const { length } = array;
  if (walk.nodes + length > walk.limits.nodes) tooMany(walk);
  const copy: Json[] = [];
  let text = "[";
  for (let index = 0; index < length; index += 1) {
    level.at = index;
    const property = Object.getOwnPropertyDescriptor(array, index);
    if (property === undefined) refuse(walk, "must not be a hole in an array.");
    const item = visit(walk, read(walk, property));
    text += index === 0 ? item : `,${item}`;
    copy.push(walk.copy);
  }
  walk.copy = Object.freeze(copy);
  return `${text}]`;
}

function visitObject(walk: Walk, level: Level, object: object): string {
  const foreign = whyNotPlain(object);
  if (foreign) refuse(walk, foreign);
  const keys = Object.keys(object);
  if (walk.nodes + keys.length > walk.limits.nodes) tooMany(walk);
  const originals = arePlain(keys) ? undefined : rename(walk, level, keys);
  const names = sortNames(originals ? [...originals.keys()] : keys);
  const copy: Record<string, Json> = {};
  let text = "";
  let before = '{"';
  for (const name of names) {
    level.at = name;
    const key = originals?.get(name) ?? name;
    const property = Object.getOwnPropertyDescriptor(object, key);
    const value = property && read(walk, property);
    if (value === undefined) continue;
    count(walk, name);
    const escaped = originals ? JSON.stringify(name).slice(1, -1) : name;
    text = `${text}${before}${escaped}":${visit(walk, value)}`;
    before = ',"';
    put(copy, key, walk.copy);
  }
  walk.copy = Object.freeze(copy);
  return text === "" ? "{}" : `${text}}`;
}

function arePlain(names: readonly string[]): boolean {
  for (const name of names) if (!isPlainText(name)) return false;
  return true;
}

const LONE_SURROGATE = /\p{Surrogate}/u;

function visitString(walk: Walk, raw: string): string {
  count(walk, raw);
  // The Unicode form does not affect equality; what is sent stays as it was given.
  walk.copy = raw;
  return isPlainText(raw) ? `"${raw}"` : JSON.stringify(compose(walk, raw));
}

function compose(walk: Walk, raw: string): string {
  if (LONE_SURROGATE.test(raw)) refuse(walk, "must be well-formed Unicode: no lone surrogates.");
  return raw.normalize("NFC");
}

/** Maps each name in NFC to the key it was read from. */
function rename(walk: Walk, level: Level, keys: readonly string[]): Map<string, string> {
  const originals = new Map<string, string>();
  for (const key of keys) {
    level.at = key;
    const name = compose(walk, key);
    if (originals.has(name))
      refuse(walk, "must not equal another key of the object in Unicode NFC.");
    originals.set(name, key);
  }
  return originals;
}

function read(walk: Walk, property: PropertyDescriptor): unknown {
  if (property.get || property.set) refuse(walk, "must be a value, not a getter or setter.");
  return property.value;
}

function put(copy: Record<string, Json>, name: string, value: Json): void {
  // Assigning an inherited name would run its setter (`__proto__`) or fail on a frozen prototype.
  if (name in Object.prototype) {
    Object.defineProperty(copy, name, { value, enumerable: true });
  } else {
    copy[name] = value;
  }
}

function count(walk: Walk, text: string): void {
  walk.characters += text.length;
  if (walk.characters > walk.limits.bytes) tooLong(walk);
}

const tooMany = (walk: Walk): never =>
  refuse(walk, `must not raise the total above ${walk.limits.nodes} values.`);

const tooLong = (walk: Walk): never =>
  refuse(walk, `must not raise the total above ${walk.limits.bytes} bytes.`);

function refuse(walk: Walk, rule: string): never {
  throw new InvalidInputError(showPath(walk.at, pathTo(walk.level)), rule);
}

function pathTo(innermost: Level | undefined): readonly (string | number)[] {
  const path: (string | number)[] = [];
  for (let level = innermost; level; level = level.above) {
    if (level.at !== undefined) path.unshift(level.at);
  }
  return path;
}
