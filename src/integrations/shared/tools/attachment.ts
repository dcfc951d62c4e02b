/**
 * What a person attached, by its content: a picture is the same whether a program holds its bytes, a storage made base64
 * of them, or an address was signed anew.
 *
 * Of a part, only what carries content counts: bytes, texts and addresses, in whatever field. Names, types, sizes and
 * times are left out, because storage adds and drops them.
 *
 * @module
 */

import { hash } from "node:crypto";
import { digestText } from "../../../key/digest.ts";
import { peek } from "../../../lang/peek.ts";

const NOT_CONTENT = new Set([
  "id",
  "type",
  "name",
  "title",
  "filename",
  "fileName",
  "displayName",
  "format",
  "detail",
  "mediaType",
  "media_type",
  "mimeType",
  "mime_type",
  "contentType",
  "source_type",
  "state",
  "createdAt",
  "created_at",
  "timestamp",
  "metadata",
  "extras",
  "additional_kwargs",
  "response_metadata",
  "providerOptions",
  "providerMetadata",
  "experimental_providerMetadata",
  "cache_control",
  "cacheControl",
]);
const MAX_DEPTH = 12;

/** One digest for all that it carries. A `Blob` has to be read, so it takes a moment. */
export async function attachmentDigest(part: unknown): Promise<string> {
  const found: (string | Promise<string>)[] = [];
  collect(part, found, 0);
  return digestText("attachment", ...(await Promise.all(found)).sort());
}

/** Adds a digest for each piece of content; in which field it stands does not matter. */
function collect(value: unknown, found: (string | Promise<string>)[], depth: number): void {
  const whole = contentOf(value);
  if (whole !== undefined) found.push(whole);
  if (whole !== undefined || typeof value !== "object" || value === null) return;
  if (depth >= MAX_DEPTH) return;
  for (const name of Object.keys(value)) {
    if (!NOT_CONTENT.has(name)) collect(peek(value, name), found, depth + 1);
  }
}

/** Of what is content itself; `undefined` for what may contain some. */
function contentOf(value: unknown): string | Promise<string> | undefined {
  if (typeof value === "string") return ofText(value);
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof URL) return ofText(value.href);
  if (value instanceof Blob) {
    return value.arrayBuffer().then((bytes) => ofBytes(new Uint8Array(bytes)));
  }
  const bytes = bytesOf(value);
  return bytes && ofBytes(bytes);
}

/** Bytes as they are, or as `JSON.stringify` writes a Buffer (`data: [1, 2]`) or an array of bytes (`{ "0": 1, "1": 2 }`). */
function bytesOf(value: object): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (peek(value, "0") === undefined) return undefined;
  const numbers = Object.keys(value).map((name) => Number(peek(value, name)));
  const isBytes = numbers.every((n) => Number.isInteger(n) && n >= 0 && n <= 255);
  return isBytes ? Uint8Array.from(numbers) : undefined;
}

const ofBytes = (bytes: Uint8Array): string => `bytes:${hash("sha256", bytes, "base64url")}`;

function ofText(text: string): string {
  if (/^data:/i.test(text)) return ofDataUrl(text);
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return `address:${unsignedAddress(text)}`;
  const bytes = fromBase64(text);
  return bytes ? ofBytes(bytes) : `text:${foldSpace(text)}`;
}

function ofDataUrl(url: string): string {
  const comma = url.indexOf(",");
  const data = url.slice(comma + 1);
  const isBase64 = /;\s*base64\s*$/i.test(url.slice(0, comma));
  const bytes = isBase64 ? fromBase64(unescaped(data)) : Buffer.from(unescaped(data));
  return bytes ? ofBytes(bytes) : `text:${foldSpace(url)}`;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Either alphabet, with or without padding. Else `undefined`: two texts must not become the same bytes. */
function fromBase64(text: string): Uint8Array | undefined {
  const plain = foldSpace(text)
    .replace(/={1,2}$/, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  if (plain === "" || !/^[A-Za-z0-9+/]+$/.test(plain)) return undefined;
  const bytes = Buffer.from(plain, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === plain ? bytes : undefined;
}

/** White space does not count: storage trims it, and joins parts with it. */
export const foldSpace = (text: string): string => text.replaceAll(/\s+/g, "");

/** S3 and Google Cloud Storage. No other parameter begins so. */
const PREFIX = /^x-(?:amz|goog)-/;

/** Names that are common words elsewhere: left out only beside the signature itself. */
const SIGNED: Readonly<Record<string, ReadonlySet<string>>> = {
  // CloudFront, and the older signatures of S3 and Google.
  signature: new Set([
    "signature",
    "expires",
    "policy",
    "key-pair-id",
    "awsaccesskeyid",
    "googleaccessid",
  ]),
  // Azure's shared access signatures.
  sig: new Set([
    ...["sig", "se", "sp", "sv", "st", "sr", "ss", "srt", "spr", "sip", "sdd"],
    ...["skoid", "sktid", "skt", "ske", "sks", "skv"],
  ]),
};

/** A store signs the address of one file anew for every request. Any other parameter may say which file it is. */
function unsignedAddress(text: string): string {
  const url = URL.parse(text);
  if (!url) return text;
  const names = new Set([...url.searchParams.keys()].map((name) => name.toLowerCase()));
  const signed = Object.keys(SIGNED).filter((mark) => names.has(mark));
  const isSignature = (name: string) =>
    PREFIX.test(name) || signed.some((mark) => SIGNED[mark]?.has(name));
  const kept = [...url.searchParams].filter(([name]) => !isSignature(name.toLowerCase()));
  // Untouched where nothing is left out: writing parameters anew changes how they are escaped.
  if (kept.length < url.searchParams.size) url.search = String(new URLSearchParams(kept));
  return url.href;
}
