/**
 * What the model is told: one envelope from every adapter, in words that stop it from calling again.
 *
 * @module
 */

import type { Effect } from "../../reasons.ts";
import type { Outcome, OutcomeStatus } from "../operation/outcome.ts";
import {
  type Checker,
  deniedWords,
  heldWords,
  inProgressWords,
  notAppliedWords,
  unknownWords,
} from "./words.ts";

/** The JSON a model reads. */
export interface Reply<R = unknown> {
  readonly ok: boolean;
  readonly outcome: OutcomeStatus;
  readonly effect?: Effect | undefined;
  readonly replayed: boolean;
  readonly data?: R | undefined;
  /** The operation, for a status tool. */
  readonly operation: string;
  readonly message: string;
}

/** `checker`: who finds out what happened. A read may be made again. */
export function replyOf<R>(outcome: Outcome<R>, checker: Checker, isRead = false): Reply<R> {
  const { status, replayed, id } = outcome;
  const base = { ok: status === "committed", outcome: status, replayed, operation: id };
  switch (outcome.status) {
    case "committed": {
      const { effect, result } = outcome;
      return {
        ...base,
        effect,
        data: result,
        message: isRead ? "Done." : committedMessage(outcome),
      };
    }
    case "not_applied":
      return { ...base, effect: "noop", message: notAppliedWords(outcome, isRead) };
    case "unknown":
      return { ...base, message: unknownWords(outcome, checker) };
    case "in_progress":
      return { ...base, message: inProgressWords(outcome) };
    case "held":
      return {
        ...base,
        effect: "noop",
        message: heldWords(outcome),
      };
    case "denied":
      return {
        ...base,
        effect: "noop",
        message: deniedWords(outcome),
      };
    case "conflict":
      return {
        ...base,
        effect: "noop",
        message:
          outcome.reason === "other_tool"
            ? "Another tool of this name has made the same call. Nothing was sent for this one. Do not call again; a developer must give the two tools different names."
            : "This key belongs to another request. Nothing was sent. Do not call again.",
      };
  }
}

function committedMessage(outcome: Extract<Outcome<unknown>, { status: "committed" }>): string {
  const lost = outcome.resultLost ? " Its result was not kept." : "";
  if (!outcome.replayed) return `Done.${lost} Do not call again for the same request.`;
  const when = new Date(outcome.at).toISOString();
  return `Already done at ${when}; nothing was sent this time.${lost} Do not call again. If it is wanted once more, a person must ask for it in a new message.`;
}
