/**
 * A copy of a call's arguments, for a tool's own check of them: their caller may change its objects while the check takes its
 * time, and the check may change what it is given.
 *
 * @module
 */

import { canonicalize } from "../../../key/canonical.ts";

/**
 * The arguments as they are now, also those of a program that gives proxies (a reactive store, a draft). What is no JSON stays what
 * it is: it is refused later, in words of its own.
 */
export function copyArguments(args: unknown): unknown {
  try {
    return structuredClone(canonicalize(args, "args").value);
  } catch {
    return args;
  }
}
