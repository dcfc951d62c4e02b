/**
 * The scope of one turn of a conversation: the thread, and what people have said in it so far.
 *
 * A retried run has the same messages, so it is the same turn. Once a person speaks again, even in
 * the same words, it is another turn.
 *
 * @module
 */

import { checkScope } from "./check-name.ts";
import { digestText } from "./digest.ts";

const DIGEST_LENGTH = 22;
const TURN = /\/turn-[0-9]{1,9}-[\w-]{22}$/;

/** `said` holds one text per message of a person, in order. */
export function turnScope(thread: string, said: readonly string[]): string {
  const digest = digestText("turn", checkScope(thread), ...said).slice(0, DIGEST_LENGTH);
  return checkScope(`${thread}/turn-${said.length}-${digest}`);
}

/** The thread of a turn's scope; `undefined` for any other scope. */
export function threadOf(scope: string): string | undefined {
  const { index } = TURN.exec(scope) ?? {};
  return index === undefined ? undefined : scope.slice(0, index);
}
