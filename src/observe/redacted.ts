/**
 * What logs, spans and metrics show in place of errors and keys. An error's message may contain
 * anything, so only its class and code are shown; a key may be a permission, so only its hash is.
 *
 * @module
 */

import { networkVerdict } from "../classify/network.ts";
import { isHoldfireError } from "../errors.ts";
import { digestText } from "../key/digest.ts";
import { causes, peek } from "../lang/peek.ts";

/** Names in a program; a sentence of a service does not match. */
const CLASS = /^[A-Za-z_$][\w$]{0,63}$/;
const CODE = /^[A-Za-z0-9_.-]{1,64}$/;

const shaped = (value: unknown, shape: RegExp): string | undefined =>
  typeof value === "string" && shape.test(value) ? value : undefined;

export const classOf = (error: unknown): string | undefined =>
  shaped(peek(peek(error, "constructor"), "name"), CLASS);

/** The first code along the chain of causes. */
export function codeOf(error: unknown): string | undefined {
  for (const link of causes(error)) {
    const code = shaped(peek(link, "code"), CODE);
    if (code !== undefined) return code;
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
