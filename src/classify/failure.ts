/**
 * What an attempt failed with, as people and models are told: the class and the code of what `run` threw, its first
 * line, and what the service itself said in its answer. Nothing is decided by it.
 *
 * @module
 */

import { visible } from "../key/escape-hidden.ts";
import { maskSecrets } from "./mask-secrets.ts";
import { serviceWords } from "./service-words.ts";
import type { Thrown } from "./thrown.ts";

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
  /** It was thrown after the call was sent, by a way on which no request is seen. */
  readonly handed?: true | undefined;
}

const LONGEST_LINE = 240;
const LONGEST_SAID = 400;
const LONGEST_TEXT = 4_000;

/** `undefined`: nothing was thrown. `body`: the service's answer, where it was seen. */
export function failureOf(thrown: Thrown | undefined, body: unknown): Failure | undefined {
  const said = fit(serviceWords(thrown, body), LONGEST_SAID);
  if (!thrown) return said === undefined ? undefined : { said };
  const { type, code, message } = thrown;
  if (thrown.isNotApplied) return { line: lineOf(message), said, byTool: true };
  // Our own message is for a developer, who has the error itself.
  const line = thrown.isOurs ? undefined : lineOf(message);
  const broke = thrown.isInterruption || undefined;
  const answered = thrown.isMcpAnswer || undefined;
  const handed = thrown.isAfterHanding || undefined;
  return { type, code, line: line === said ? undefined : line, said, broke, answered, handed };
}

/** One line of at most this many characters, in which nothing is hidden from the reader but what was masked. */
export function fit(text: string | undefined, longest: number): string | undefined {
  const folded = text?.replace(/\s+/g, " ").trim();
  return folded ? visible(folded, longest) : undefined;
}

function lineOf(message: string | undefined): string | undefined {
  const [first] = (message ?? "")
    .slice(0, LONGEST_TEXT)
    .trimStart()
    .split(/[\r\n]/, 1);
  return fit(first && maskSecrets(first), LONGEST_LINE);
}
