/**
 * The error that stands for an outcome: what a plain call throws when it has no result to return.
 *
 * @module
 */

import {
  ApprovalRequiredError,
  DeniedError,
  type HoldfireError,
  isHoldfireError,
  KeyConflictError,
  LaneBlockedError,
  NotAppliedError,
  OperationInProgressError,
  OutcomeUnknownError,
  ResultLostError,
} from "../../errors.ts";
import type { Outcome } from "../operation/outcome.ts";

/** `undefined`: the outcome has a result. */
export function errorOf(outcome: Outcome<unknown>): HoldfireError | undefined {
  const { tool, id, key } = outcome;
  const facts = { tool, id, key };
  // The failure of an inner operation passes up untouched: it names what has to be settled. That a
  // request was repeated says nothing of what became of a write.
  if ("error" in outcome && isHoldfireError(outcome.error)) {
    const isHidden = outcome.error.code === "ERR_HOLDFIRE_HIDDEN_RETRY";
    if (!isHidden || outcome.status !== "unknown") return outcome.error;
  }
  switch (outcome.status) {
    case "committed":
      return outcome.resultLost ? new ResultLostError(facts) : undefined;
    case "not_applied":
      return new NotAppliedError(facts, outcome.reason, {
        status: outcome.rejection?.status,
        because: saidOf(outcome),
        cause: outcome.error,
      });
    case "unknown":
      return new OutcomeUnknownError(facts, outcome.reason, saidOf(outcome), outcome.error);
    case "in_progress":
      return new OperationInProgressError(facts);
    case "held":
      return outcome.reason === "lane"
        ? new LaneBlockedError(facts, outcome.resource ?? "", outcome.blockedBy ?? "")
        : new ApprovalRequiredError(facts, outcome.reason);
    case "denied":
      return new DeniedError(facts, outcome.by);
    case "conflict":
      return new KeyConflictError(facts, outcome.reason);
  }
}

const saidOf = (
  outcome: Extract<Outcome<unknown>, { status: "unknown" | "not_applied" }>,
): string => [becauseAndThrown(outcome), outcome.hint].filter(Boolean).join(" ");

/** What is known of it, and what was thrown, for a developer. */
function becauseAndThrown({
  because = "",
  threw,
}: {
  readonly because?: string | undefined;
  readonly threw?: string | undefined;
}): string {
  if (threw === undefined || because.includes(threw)) return because;
  return `${because}${because && " "}The attempt threw ${threw}.`;
}
