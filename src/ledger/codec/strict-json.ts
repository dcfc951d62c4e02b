/**
 * Writes JSON without loss: a value that JSON cannot carry is refused, where `JSON.stringify` would
 * drop or change it. A replayed result must equal the result of the first call.
 *
 * Dates, other values with `toJSON`, and instances with their own data are written as `JSON.stringify`
 * writes them. It never throws, and never does more work than `maxBytes` allows.
 *
 * @module
 */

import { isBoxedPrimitive, isMap, isNativeError, isSet } from "node:util/types";

export type Written =
  | { readonly tag: "text"; readonly text: string }
  | { readonly tag: "undefined" }
  /** `why` names the place and the kind of value, never the value. */
  | { readonly tag: "refused"; readonly why: string };

const MAX_DEPTH = 500;
const MAX_PATH_CHARS = 120;
const PLAIN_KEY = /^[A-Za-z_$][\w$]{0,31}$/;

interface Walk {
  readonly maxBytes: number;
  /** The objects and arrays that contain the current value. */
  readonly above: object[];
  /** The names and indices that lead to the current value. */
  readonly path: (string | number)[];
  /** Characters written so far: a lower bound of the bytes. */
  chars: number;
}

type Part = string | undefined | { readonly why: string };

export function writeJson(value: unknown, maxBytes: number): Written {
  const part = write(value, "", { maxBytes, above: [], path: [], chars: 0 });
  if (part === undefined) return { tag: "undefined" };
  if (typeof part !== "string") return { tag: "refused", why: part.why };
  if (Buffer.byteLength(part) > maxBytes) return { tag: "refused", why: tooLarge(maxBytes) };
  return { tag: "text", text: part };
}

const tooLarge = (maxBytes: number): string => `larger than ${maxBytes} bytes`;

function no({ path }: Walk, rule: string): Part {
  const at = `value${path.map(shown).join("")}`;
  return { why: `${at.length > MAX_PATH_CHARS ? `${at.slice(0, MAX_PATH_CHARS)}…` : at}: ${rule}` };
}

/** A key may be content (an address, a name): only what looks like a field name is shown. */
function shown(name: string | number): string {
  if (typeof name === "number") return `[${name}]`;
  return PLAIN_KEY.test(name) ? `.${name}` : "[…]";
}

function write(given: unknown, key: string, walk: Walk): Part {
  const depth = walk.path.length;
  try {
    const seen = asJsonSeesIt(given, key);
    const part = writeBare(seen, walk);
    // Only primitives are counted, so that a nested value is not counted again with its parent.
    if (typeof part === "string" && (typeof seen !== "object" || seen === null)) {
      walk.chars += part.length;
    }
    return walk.chars > walk.maxBytes ? { why: tooLarge(walk.maxBytes) } : part;
  } catch {
    walk.path.length = depth;
    walk.above.length = depth;
    return no(walk, "reading it throws");
  }
}

function asJsonSeesIt(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null) return value;
  const toJSON: unknown = Reflect.get(value, "toJSON");
  if (typeof toJSON === "function") return Reflect.apply(toJSON, value, [key]);
  return isBoxedPrimitive(value) ? value.valueOf() : value;
}

function writeBare(value: unknown, walk: Walk): Part {
  switch (typeof value) {
    case "undefined":
      return undefined;
    case "string":
      // A text that cannot fit is not escaped first.
      return value.length > walk.maxBytes
        ? { why: tooLarge(walk.maxBytes) }
        : JSON.stringify(value);
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

function writeObject(value: object, walk: Walk): Part {
  const { above, path } = walk;
  if (above.includes(value)) return no(walk, "it contains itself");
  if (above.length >= MAX_DEPTH) return no(walk, `nested deeper than ${MAX_DEPTH}`);
  if (isOpaque(value)) return no(walk, "an instance whose content JSON cannot carry");
  above.push(value);
  const depth = path.push("") - 1;
  const part = Array.isArray(value)
    ? writeArray(value, depth, walk)
    : writeFields(value, depth, walk);
  above.pop();
  path.pop();
  return part;
}

/** Whether some of its content is not in its own properties. */
function isOpaque(value: object): boolean {
  if (Array.isArray(value)) return false;
  if (isMap(value) || isSet(value) || isNativeError(value)) return true;
  if (ArrayBuffer.isView(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain =
    prototype === null ||
    // A plain object of another realm has another `Object.prototype`, which has no prototype.
    (typeof prototype === "object" && Object.getPrototypeOf(prototype) === null);
  return !isPlain && Object.keys(value).length === 0;
}

function writeArray(value: readonly unknown[], depth: number, walk: Walk): Part {
  let text = "";
  for (let index = 0; index < value.length; index++) {
    walk.path[depth] = index;
    const part = write(value[index], String(index), walk);
    if (part === undefined) return no(walk, "undefined inside an array");
    if (typeof part !== "string") return part;
    text += index === 0 ? part : `,${part}`;
    walk.chars += 1;
  }
  return `[${text}]`;
}

function writeFields(value: object, depth: number, walk: Walk): Part {
  let text = "";
  for (const key of Object.keys(value)) {
    walk.path[depth] = key;
    const part = writeField(value, key, walk);
    if (part === undefined) continue;
    if (typeof part !== "string") return part;
    text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${part}`;
    walk.chars += key.length + 4;
  }
  return `{${text}}`;
}

function writeField(value: object, key: string, walk: Walk): Part {
  try {
    return write(Reflect.get(value, key), key, walk);
  } catch {
    return no(walk, "reading it throws");
  }
}
