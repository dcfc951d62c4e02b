/**
 * SHA-256 over a list of strings, encoded so that no two different lists share a digest.
 *
 * Each part is prefixed with its length, and each use has its own domain: `["a", "bc"]` differs
 * from `["ab", "c"]`, and a fingerprint never equals an id.
 *
 * @module
 */

import { hash } from "node:crypto";

/** Raised if the hashed encoding ever changes: old and new digests must not collide. */
const VERSION = 1;

/** Parts must be well-formed Unicode. An `undefined` part differs from an empty one. */
export function digest(domain: string, ...parts: readonly (string | undefined)[]): Buffer {
  return hash("sha256", frame(domain, parts), "buffer");
}

/** The same in base64url: 43 characters. */
export function digestText(domain: string, ...parts: readonly (string | undefined)[]): string {
  return hash("sha256", frame(domain, parts), "base64url");
}

function frame(domain: string, parts: readonly (string | undefined)[]): string {
  let framed = measured(`holdfire/${VERSION}/${domain}`);
  for (const part of parts) framed += part === undefined ? "-" : measured(part);
  return framed;
}

/** The length counts bytes, so that other languages need not count UTF-16 units. */
const measured = (part: string): string => `${Buffer.byteLength(part)}:${part}`;
