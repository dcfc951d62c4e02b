/**
 * What logs, spans and metrics show in place of errors and keys. An error's message may contain
 * anything, so only its class and code are shown; a key may be a permission, so only its hash is.
 *
 * @module
 */

import { networkVerdict } from "../classify/network.ts";
import { isClassName, isCode } from "../classify/thrown.ts";
import { isHoldfireError } from "../errors.ts";
import { digestText } from "../key/digest.ts";
import { causes, peek } from "../lang/peek.ts";

export function classOf(error: unknown): string | undefined {
  const name = peek(peek(error, "constructor"), "name");
  return isClassName(name) ? name : undefined;
}

/** The first code along the chain of causes. */
export function codeOf(error: unknown): string | undefined {
  for (const link of causes(error)) {
    const code = peek(link, "code");
    if (isCode(code)) return code;
  }
  return undefined;
}

/**
 * For `error.type`, which must have few values: holdfire's code, the code of a known network failure,
 * else the class.
 */
export function errorType(error: unknown): string {
  if (isHoldfireError(error)) return error.code;
  for (const link of causes(error)) {
    const code = peek(link, "code");
    const syscall = peek(link, "syscall");
    if (networkVerdict({ code, syscall }) !== undefined) return String(code);
  }
  return classOf(error) ?? "_OTHER";
}

/** The same for the same key, and the key cannot be derived from it. */
export const keyHash = (key: string): string => digestText("telemetry", key);
