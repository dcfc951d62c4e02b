/**
 * What an attempt failed with, as people and models are told: the class and the code of what `run` threw, its first
 * line, and what the service itself said in its answer. Nothing is decided by it.
 *
 * @module
 */

import { isHoldfireError } from "../errors.ts";
import { visible } from "../key/escape-hidden.ts";
import { peek } from "../lang/peek.ts";
import { errorCodeOf } from "./answer.ts";
import { maskSecrets } from "./mask-secrets.ts";
import { isMcpAnswer } from "./mcp.ts";
import { isInterruption } from "./network.ts";
import { isNotApplied } from "./not-applied.ts";
import { serviceWords } from "./service-words.ts";

/** The texts are masked, on one line and short. */
export interface Failure {
  /** The class of what was thrown. */
  readonly type?: string | undefined;
  readonly code?: string | undefined;
  /** The first line of its message. */
  readonly line?: string | undefined;
  /** What the service said in its answer, in its own words. */
  readonly said?: string | undefined;
  /** The tool itself says that nothing happened: `line` is why. */
  readonly byTool?: true | undefined;
  /** It was thrown in place of an answer: a service was reached, though perhaps no request was seen. */
  readonly answered?: true | undefined;
  /** It says that the connection broke or the wait was given up, and no more. */
  readonly broke?: true | undefined;
}

const LONGEST_LINE = 240;
const LONGEST_SAID = 400;

/** Names in a program; a sentence of a service does not match. */
const CLASS = /^[A-Za-z_$][\w$]{0,63}$/;

/** `undefined`: nothing was thrown. `body`: the service's answer, where it was seen. */
export function failureOf(
  thrown: { readonly error: unknown } | undefined,
  body: unknown,
): Failure | undefined {
  const said = fit(serviceWords(thrown?.error, body), LONGEST_SAID);
  if (!thrown) return said === undefined ? undefined : { said };
  const { error } = thrown;
  if (isNotApplied(error)) return { line: lineOf(error), said, byTool: true };
  const type = typeOf(error);
  const code = errorCodeOf(error);
  // Our own message is for a developer, who has the error itself.
  const line = isHoldfireError(error) ? undefined : lineOf(error);
  const broke = isInterruption(error) || undefined;
  const answered = isMcpAnswer(error) || undefined;
  return { type, code, line: line === said ? undefined : line, said, broke, answered };
}

/** One line of at most this many characters, in which nothing is hidden from the reader but what was masked. */
export function fit(text: string | undefined, longest: number): string | undefined {
  const folded = text?.replace(/\s+/g, " ").trim();
  return folded ? visible(folded, longest) : undefined;
}

/** The name that an error gives itself, if it has one of its own: a `DOMException` may be a `TimeoutError`. */
function typeOf(error: unknown): string {
  const names = [peek(error, "name"), peek(peek(error, "constructor"), "name")];
  const fitting = names.filter((name) => typeof name === "string" && CLASS.test(name));
  const own = fitting.find((name) => name !== "Error") ?? fitting[0];
  return String(own ?? (error === null ? "null" : typeof error));
}

function lineOf(error: unknown): string | undefined {
  const message = typeof error === "string" ? error : peek(error, "message");
  if (typeof message !== "string") return undefined;
  const [first] = message
    .slice(0, LONGEST_TEXT)
    .trimStart()
    .split(/[\r\n]/, 1);
  return fit(first && maskSecrets(first), LONGEST_LINE);
}

const LONGEST_TEXT = 4_000;
