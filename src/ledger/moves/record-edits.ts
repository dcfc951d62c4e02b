/**
 * Small pure edits of a record, used by the moves.
 *
 * @module
 */

import { isOpen, type OperationRecord, type State } from "../record.ts";
import type { Draft } from "./moves.ts";

const MAX_NAMES_KEPT = 16;

/** A record before the move that makes it has given it a state. */
export type Stateless = Omit<OperationRecord, "state">;

/** Puts the record into a state. The intent is kept only while the operation is open. */
export function enter(record: Stateless, state: State, at: number): OperationRecord {
  return { ...record, state, stateAt: at, intent: isOpen(state) ? record.intent : undefined };
}

/** Shared by all new records: most of them never have any. */
const NONE: readonly never[] = Object.freeze([]);

export const newRecord = (draft: Draft, at: number): Stateless => ({
  ...draft.identity,
  stateAt: at,
  createdAt: at,
  epoch: 0,
  generation: 0,
  argsHash: draft.argsHash,
  fields: draft.fields,
  intent: draft.intent,
  precondition: draft.precondition,
  aliases: addNames(NONE, draft.aliases),
  runs: draft.identity.run === undefined ? NONE : [draft.identity.run],
  attempts: NONE,
  fired: 0,
  evidence: NONE,
});

/** What makes a record, with the name of the program in it. */
export const madeBy = <T extends { readonly record: OperationRecord | undefined }>(
  app: string | undefined,
  made: T,
): T => (app === undefined || !made.record ? made : { ...made, record: { ...made.record, app } });

/** Takes over the arguments of this call: nothing was sent before, or certainly nothing happened. */
export const redraft = (record: OperationRecord, draft: Draft): OperationRecord => ({
  ...record,
  argsHash: draft.argsHash,
  fields: draft.fields,
  intent: draft.intent,
  precondition: draft.precondition,
  aliases: addNames(record.aliases, draft.aliases),
  runs: addNames(record.runs, draft.identity.run === undefined ? [] : [draft.identity.run]),
});

export function addNames(known: readonly string[], more: readonly string[]): readonly string[] {
  if (more.every((name) => known.includes(name))) return known;
  const added = [...new Set(more)].filter((name) => !known.includes(name));
  return [...known, ...added].slice(-MAX_NAMES_KEPT);
}
