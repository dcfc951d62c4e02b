/**
 * SHA-256 over a list of strings, encoded so that no two different lists share a digest.
 *
 * Each part is prefixed with its length, and each use has its own domain: `["a", "bc"]` differs
 * from `["ab", "c"]`, and the hash of arguments never equals an id.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { hash } from "node:crypto";

/** Raised if the hashed encoding ever changes: old and new digests must not collide. */
const VERSION = 1;

type Part = string | undefined;

/**
 * In base64url: 43 characters. Parts must be well-formed Unicode. An `undefined` part differs from an
 * empty one.
 */
export const digestText = (domain: string, ...parts: readonly Part[]): string =>
  digestFrom(beginning(domain), ...parts);

/** The encoded beginning of a domain's digests, with first parts that many of them share. */
export const beginning = (domain: string, ...parts: readonly Part[]): string =>
  parts.reduce(framed, framed("", `holdfire/${VERSION}/${domain}`));

/** The same digest as of all parts at once. */
export function digestFrom(start: string, ...parts: readonly Part[]): string {
  let text = start;
  for (const part of parts) text = framed(text, part);
  return hash("sha256", text, "base64url");
}

/** The length counts bytes, so that other languages need not count UTF-16 units. */
const framed = (before: string, part: Part): string =>
  part === undefined ? `${before}-` : `${before}${Buffer.byteLength(part)}:${part}`;
