/**
 * What a body stands for in the intent: its JSON, so that the order of keys plays no part, else a digest
 * of its bytes.
 *
 * JSON counts only where nothing is lost in reading it. Two bodies that differ in a digit too long for a
 * number must not become one operation.
 *
 * @module
 */

import { hash } from "node:crypto";
import { canonicalize } from "../../key/canonical.ts";
import type { Json } from "../../key/json.ts";

/** A body as the intent holds it. */
export type BodyPrint = { readonly json: Json } | { readonly sha256: string };

/** Smaller than what an intent may hold, for the rest of it needs room, too. */
const LIMITS = { depth: 60, nodes: 50_000, bytes: 262_144 };

export const digestBytes = (bytes: Uint8Array): string => hash("sha256", bytes, "base64url");

export function printBody(bytes: Uint8Array, contentType: string | undefined): BodyPrint {
  const json = mayBeJson(contentType) ? readJson(bytes) : undefined;
  return json === undefined ? { sha256: digestBytes(bytes) } : { json };
}

/** A string without a content type of its own is sent as plain text; most of these are JSON. */
function mayBeJson(contentType = ""): boolean {
  const [type = ""] = contentType.toLowerCase().split(";", 1);
  const name = type.trim();
  return name === "application/json" || name.endsWith("+json") || name === "text/plain";
}

function readJson(bytes: Uint8Array): Json | undefined {
  if (bytes.byteLength > LIMITS.bytes) return undefined;
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const value = parseFaithfully(text);
    return typeof value === "object" && value !== null
      ? canonicalize(value, "body", LIMITS).value
      : undefined;
  } catch {
    return undefined;
  }
}

type Reviver = (name: string, value: unknown, context: { readonly source?: string }) => unknown;

/** `undefined` if reading loses something: a digit, or one of two equal names. */
function parseFaithfully(text: string): unknown {
  let members = 0;
  let faithful = true;
  const look: Reviver = (_, value, { source }) => {
    if (typeof value === "number") faithful &&= source !== undefined && isExact(value, source);
    else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      members += Object.keys(value).length;
    }
    return value;
  };
  const value: unknown = JSON.parse(text, look as (name: string, value: unknown) => unknown);
  return faithful && members === countMembers(text) ? value : undefined;
}

/** Colons outside of strings: one for each member. */
function countMembers(text: string): number {
  let count = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|:/g)) if (token === ":") count += 1;
  return count;
}

/** Decimals of up to this many digits each have a number of their own. */
const EXACT_DIGITS = 15;
/** Below it, numbers have fewer digits. */
const LEAST_NORMAL = 2 ** -1022;

function isExact(value: number, source: string): boolean {
  if (String(value) === source || Number.isSafeInteger(value)) {
    // 9007199254740991.4 is read as a whole number that it is not.
    if (String(value) === source || /^-?\d+$/.test(source)) return true;
  }
  const digits = (source.split(/e/i, 1)[0] ?? "").replace(/[-.]/g, "").replace(/^0+/, "");
  if (value === 0) return digits === "";
  return Number.isFinite(value) && Math.abs(value) >= LEAST_NORMAL && digits.length <= EXACT_DIGITS;
}
