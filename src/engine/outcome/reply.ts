/**
 * What the model is told: one envelope from every adapter, in words that stop it from calling again.
 *
 * @module
 */

import type { Effect } from "../../ledger/record.ts";
import type { Outcome, OutcomeStatus } from "../operation/outcome.ts";

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

/** `readable`: whether anything but a person can find out what happened. A read may be made again. */
export function replyOf<R>(outcome: Outcome<R>, readable: boolean, isRead = false): Reply<R> {
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
      return { ...base, effect: "noop", message: notAppliedMessage(outcome) };
    case "unknown":
      return {
        ...base,
        message: readable
          ? "The reply was lost. It may have happened. Do not call again; it is being checked."
          : "The reply was lost. It may have happened. Do not call again; a person must check.",
      };
    case "in_progress":
      return {
        ...base,
        message:
          "It is still in progress and may still land. Do not call again; ask for its status later.",
      };
    case "held":
      return {
        ...base,
        effect: "noop",
        message:
          outcome.reason === "lane"
            ? "Nothing was sent: an earlier write to the same thing is not settled. Do not call again."
            : "Nothing was sent yet: a person must approve it first. Do not call again until told.",
      };
    case "denied":
      return {
        ...base,
        effect: "noop",
        message:
          outcome.by === "onDrift"
            ? "It is not what an earlier call wrote to the same thing, and its tool refuses that. Nothing was sent. Do not call again."
            : "A person said no. Nothing was sent. Do not call again.",
      };
    case "conflict":
      return {
        ...base,
        effect: "noop",
        message: "This key belongs to another request. Nothing was sent. Do not call again.",
      };
  }
}

function committedMessage(outcome: Extract<Outcome<unknown>, { status: "committed" }>): string {
  const lost = outcome.resultLost ? " Its result was not kept." : "";
  if (!outcome.replayed) return `Done.${lost} Do not call again for the same request.`;
  const when = new Date(outcome.at).toISOString();
  return `Already done at ${when}; nothing was sent this time.${lost} Do not call again.`;
}

function notAppliedMessage({
  reason,
  rejection,
}: Extract<Outcome<unknown>, { status: "not_applied" }>): string {
  const said = [rejection?.status, rejection?.code].filter((part) => part !== undefined).join(" ");
  switch (reason) {
    case "rejected":
      return `The service said no${said ? ` (${said})` : ""}. Nothing happened. The same call would be rejected again.`;
    case "aborted":
      return "It was stopped before anything was sent.";
    default:
      return "It certainly did not happen: the service could not be reached or refused for now.";
  }
}
