/**
 * An error as telemetry may show it: its class and its code. What it says to people may hold anything.
 *
 * @module
 */

import { networkVerdict } from "../classify/network.ts";
import { isHoldfireError } from "../errors.ts";
import { causes, peek } from "../lang/peek.ts";

/** A name from a program, not a sentence from a service. */
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
 * For `error.type`, of which there must be few: our own code, that of a known network failure, else
 * the class.
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
