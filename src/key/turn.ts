/**
 * The scope of one turn of a conversation: the thread, and what people have said in it so far, or the turn's name.
 *
 * A retried run has the same messages, so it is the same turn. Once a person speaks again, even in
 * the same words, it is another turn.
 *
 * The name of a turn ends in a seal, a digest of the rest: a caller may end its own scopes in any ids, and none of them
 * is taken for a turn.
 *
 * @module
 */

import { checkScope } from "./check-name.ts";
import { digestText } from "./digest.ts";
import { SEPARATOR } from "./scope.ts";

const DIGEST_LENGTH = 22;
const LABEL_LENGTH = 40;
const SEAL_LENGTH = 12;
const TURN = "/turn-";

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
  checkScope(sealed(`${thread}${TURN}${label}-${digest.slice(0, DIGEST_LENGTH)}`));

const sealed = (name: string): string =>
  `${name}.${digestText("turn-seal", name).slice(0, SEAL_LENGTH)}`;

/** What a scope and those of other turns have in common; `undefined` for a scope without a turn. */
export function threadOf(scope: string): string | undefined {
  if (!scope.includes(TURN)) return undefined;
  const thread = scope.split(SEPARATOR).map(withoutTurn).join(SEPARATOR);
  return thread === scope ? undefined : thread;
}

function withoutTurn(segment: string): string {
  const name = segment.slice(0, -SEAL_LENGTH - 1);
  // Most scopes need no digest to be told apart.
  if (segment[name.length] !== "." || sealed(name) !== segment) return segment;
  return name.slice(0, name.lastIndexOf(TURN));
}
