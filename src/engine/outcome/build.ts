/**
 * Builds every outcome that the engine tells: what all of them share, and what each state adds.
 *
 * @module
 */

import type { OperationFacts } from "../../errors.ts";
import { rewordedFields } from "../../key/mint.ts";
import type { Draft } from "../../ledger/moves/moves.ts";
import type { Effect, OperationRecord, State, UnknownReason } from "../../ledger/record.ts";
import type { Engine } from "../engine.ts";
import { factsOf, type Operation } from "../operation/operation.ts";
import type { Common, Outcome } from "../operation/outcome.ts";

/** What all outcomes share, unless told otherwise: newly made, recorded, nothing fired. */
export const commonFrom = (
  facts: OperationFacts,
  told: Partial<Common> & Pick<Common, "at">,
): Common => ({ ...facts, replayed: false, recorded: true, attempts: 0, ...told });

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

/** The arguments outside the intent that are not those of the first attempt. */
export const rewordedIn = (
  draft: Draft,
  first: Pick<Draft, "argsHash" | "fields">,
): readonly string[] =>
  draft.argsHash === first.argsHash ? [] : rewordedFields(first.fields, draft.fields);

/** What a state does not say by itself. */
export interface Told {
  /** The result of a commit, where there is one. */
  readonly result?: { readonly value: unknown } | undefined;
  /** What this call changed. A replay changes nothing. */
  readonly effect?: Effect | undefined;
  /** How a commit became known, if this call found out. */
  readonly via?: Extract<State, { tag: "committed" }>["via"] | undefined;
  /** What the last attempt of this call threw. */
  readonly error?: unknown;
}

/** The outcome that a state stands for. */
export function outcomeOf(
  common: Common,
  state: State,
  record: OperationRecord,
  { result, effect, via, error }: Told = {},
): Outcome<unknown> {
  switch (state.tag) {
    case "committed": {
      const { effectId } = state;
      return result
        ? { ...common, status: "committed", effect, effectId, via, result: result.value }
        : { ...common, status: "committed", effect, effectId, via, resultLost: true };
    }
    case "not_applied": {
      const { reason, rejection } = state;
      return { ...common, status: "not_applied", reason, rejection, error };
    }
    case "unknown": {
      const { reason } = state;
      const hint = hintFor(record, reason);
      return { ...common, status: "unknown", reason, hint, error };
    }
    case "denied":
      return { ...common, status: "denied", by: state.by };
    case "held":
      return { ...common, status: "held", reason: state.ask.why };
    case "queued":
    case "claimed":
      return { ...common, status: "in_progress" };
  }
}

export function hintFor(
  { attempts }: Pick<OperationRecord, "attempts">,
  reason: UnknownReason,
): string {
  const status = attempts.at(-1)?.status;
  if (status === 429 || status === 503) {
    return `If the service does nothing when it answers ${status}, declare refuses: [${status}].`;
  }
  switch (reason) {
    case "lost_reply":
      return "Declare readState, or keyed if the service honours keys, so that a lost reply can be looked up.";
    case "absent_unproven":
      return "Declare commitsWithinMs, so that an absence can become proof.";
    case "key_unused":
      return "Send the key: take it from run's second argument.";
    case "reader_blind":
      return "The reader missed a commit that is known; fix readState.";
    default:
      return "It is listed in hf.operations; reconcile or a person settles it.";
  }
}
