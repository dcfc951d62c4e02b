/**
 * What all outcomes share (`commonFrom`, `commonOf`), and the outcome that a state stands for (`outcomeOf`). The type is in
 * `operation/outcome.ts`. Outcomes without a recorded state are made where they arise:
 *
 *   nothing was sent                                             `steps/parts/known-outcome.ts`
 *   a person or a lane holds it, a person has denied it, or
 *   another owner was not done in time                           `steps/claim.ts`
 *   it belongs to another intent or tool                         `conflict`, here
 *   the claim was taken back                                     `steps/parts/withdraw.ts`
 *   a caller leaves                                              `call/join.ts`
 *   there is no record                                           `replay.ts`
 *   reconcile has learned nothing, and the record cannot be read `reconcile/settle-one.ts`
 *   it is a read                                                 `reads-and-samples/read-tool.ts`
 *
 * @module
 */

import type { OperationFacts } from "../../errors.ts";
import { rewordedFields } from "../../key/mint.ts";
import type { Draft } from "../../ledger/moves/moves.ts";
import { isCleared, type OperationRecord, type State } from "../../ledger/record.ts";
import type { Effect, UnknownReason } from "../../reasons.ts";
import type { Engine } from "../engine.ts";
import { factsOf, type Operation } from "../operation/operation.ts";
import type { Common, Outcome } from "../operation/outcome.ts";
import { readFailure } from "./failure.ts";
import { thrownWords } from "./failure-words.ts";
import { hintAgain, hintFor } from "./hints.ts";
import { attemptTold, isAnswered, lastAnswer, whyNotApplied, whyUnknown } from "./words.ts";

/** What all outcomes share, unless told otherwise: newly made, recorded, nothing fired. */
export const commonFrom = (
  { tool, id, key }: OperationFacts,
  {
    replayed = false,
    recorded = true,
    reworded,
    attempts = 0,
    wireRequests,
    licence,
    at,
  }: Partial<Common> & Pick<Common, "at">,
): Common => ({
  tool,
  id,
  key,
  replayed,
  recorded,
  reworded,
  attempts,
  wireRequests,
  licence,
  at,
});

/** The same for an operation as its record has it; without a record, as it was named. */
export function commonOf(
  operation: Operation,
  record: OperationRecord | undefined,
  engine: Engine,
): Common {
  if (!record) return commonFrom(factsOf(operation), { at: engine.ledger.clock.earliest() });
  const reworded = rewordedIn(operation.draft, record);
  return commonFrom(factsOf(operation, record.generation), {
    replayed: true,
    reworded: reworded.length > 0 ? reworded : undefined,
    attempts: record.fired,
    licence: record.attempts.at(-1)?.licence,
    at: record.stateAt,
  });
}

/** Nothing is sent: the operation belongs to another intent, or to another tool of the same name. */
export const conflict = (
  operation: Operation,
  reason: "other_intent" | "other_tool",
  engine: Engine,
): Outcome<unknown> => ({
  ...commonOf(operation, undefined, engine),
  status: "conflict",
  reason,
});

/** The arguments outside the intent that are not those of the first attempt. */
export const rewordedIn = (
  draft: Draft,
  first: Pick<Draft, "argsHash" | "fields">,
): readonly string[] =>
  draft.argsHash === first.argsHash ? [] : rewordedFields(first.fields, draft.fields);

/** What a state does not say by itself. */
interface BeyondState {
  /** The result of a commit, where there is one. */
  readonly result?: { readonly value: unknown } | undefined;
  /** What this call changed. A replay changes nothing. */
  readonly effect?: Effect | undefined;
  /** How a commit became known, if this call found out. */
  readonly via?: Extract<State, { tag: "committed" }>["via"] | undefined;
  /** What the last attempt of this call threw. */
  readonly error?: unknown;
  /** An attempt that was not waited for still runs. */
  readonly stillRuns?: boolean | undefined;
}

/** Only a call can be in conflict with a record. */
export type OutcomeOfRecord = Exclude<Outcome<unknown>, { status: "conflict" }>;

/** The outcome that a state stands for. */
export function outcomeOf(
  common: Common,
  state: State,
  record: OperationRecord,
  { codec }: Pick<Engine, "codec">,
  { result, effect, via, error, stillRuns }: BeyondState = {},
): OutcomeOfRecord {
  switch (state.tag) {
    case "committed": {
      const { effectId } = state;
      return result
        ? { ...common, status: "committed", effect, effectId, via, result: result.value }
        : { ...common, status: "committed", effect, effectId, via, resultLost: true };
    }
    case "not_applied": {
      const { reason, rejection } = state;
      const told = { reason, rejection, answered: lastAnswer(record) };
      const attempt = attemptTold(record);
      const failure = attempt && readFailure(attempt, record, codec);
      const because = whyNotApplied(told, attempt, failure);
      const threw = thrownWords(failure);
      const hint = hintAgain(record, reason);
      return { ...common, status: "not_applied", ...told, because, threw, hint, error };
    }
    case "unknown": {
      if (state.reason === "still_running" && stillRuns) {
        return { ...common, status: "in_progress", reason: state.reason };
      }
      const reason = reasonNow(state.reason, record);
      const hint = hintFor(record, reason);
      const attempt = attemptTold(record, reason);
      const failure = attempt && readFailure(attempt, record, codec);
      const because = whyUnknown(record, reason, failure);
      const answered = lastAnswer(record);
      const threw = thrownWords(failure);
      return { ...common, status: "unknown", reason, because, threw, answered, hint, error };
    }
    case "denied":
      return { ...common, status: "denied", by: state.by };
    case "held":
      return { ...common, status: "held", reason: state.ask.why };
    case "claimed":
      return { ...common, status: "in_progress" };
  }
}

/** What ran when the record was written may have ended since, or its process may be gone. */
function reasonNow(reason: UnknownReason, { attempts }: OperationRecord): UnknownReason {
  if (reason !== "still_running") return reason;
  if (attempts.some(({ endedAt }) => endedAt === undefined)) return "owner_lost";
  const doubtful = attempts.filter((attempt) => !isCleared(attempt));
  return doubtful.every(isAnswered) ? "unclear_answer" : "lost_reply";
}
