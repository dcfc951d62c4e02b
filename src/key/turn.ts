/**
 * The scope of one turn of a conversation: the thread, and what people have said in it so far, or the turn's name.
 *
 * A retried run has the same messages, so it is the same turn. Once a person speaks again, even in
 * the same words, it is another turn.
 *
 * @module
 */

import { checkScope } from "./check-name.ts";
import { digestText } from "./digest.ts";
import { SEPARATOR } from "./scope.ts";

const DIGEST_LENGTH = 22;
const LABEL_LENGTH = 40;
const TURN = /\/turn-[\w.-]{1,40}-[\w-]{22}$/;

/** `said` holds one text per message of a person, in order. */
export function turnScope(thread: string, said: readonly string[]): string {
  return scopeIn(thread, String(said.length), digestText("turn", checkScope(thread), ...said));
}

/** The same for a turn that its caller names. */
export function namedTurnScope(thread: string, turn: string): string {
  const label = checkScope(turn)
    .replaceAll(/[^\w.-]/gu, "_")
    .slice(0, LABEL_LENGTH);
  return scopeIn(thread, label, digestText("named-turn", checkScope(thread), turn));
}

const scopeIn = (thread: string, label: string, digest: string): string =>
  checkScope(`${thread}/turn-${label}-${digest.slice(0, DIGEST_LENGTH)}`);

/** What a scope and those of other turns have in common; `undefined` for a scope without a turn. */
export function threadOf(scope: string): string | undefined {
  if (!scope.includes("/turn-")) return undefined;
  const thread = scope
    .split(SEPARATOR)
    .map((segment) => segment.replace(TURN, ""))
    .join(SEPARATOR);
  return thread === scope ? undefined : thread;
}
