/**
 * The words for an outcome, made here and nowhere else. They follow the facts: what was answered, what is known, what
 * happens next, and who must act.
 *
 * @module
 */

import {
  type AttemptNote,
  isCleared,
  type NotAppliedReason,
  type OperationRecord,
  type Rejection,
  type UnknownReason,
} from "../../ledger/record.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";

type Attempts = Pick<OperationRecord, "attempts">;

/** The status that the service answered last, if it answered. */
export const lastAnswer = ({ attempts }: Attempts): number | undefined => attempts.at(-1)?.status;

/** Why it is unknown: what is known of it, in a sentence. */
export function whyUnknown({ attempts }: Attempts, reason: UnknownReason): string {
  switch (reason) {
    case "in_progress":
      return "The service has accepted it and is not done.";
    case "unverified":
      return "The service said yes, and a check did not confirm it.";
    case "partial":
      return "A part of it happened.";
    case "reworded":
      return "It was called before in other words, and that call is not settled.";
    case "stopped":
      return "It was stopped while it was being made.";
    case "abandoned":
      return "A person let another call pass in its place.";
    case "late_send":
      return "It was told as not applied, and then a request of it was seen to leave.";
    case "owner_lost":
      return "The process that made the call is gone and did not say how it ended.";
    case "store_lost":
      return "The ledger has lost data, perhaps the record of an earlier call.";
    case "rejected_in_doubt":
      return `${answerOf(attempts.at(-1))} An earlier attempt may have succeeded.`;
    default:
      return answerOf(attempts.findLast((attempt) => !isCleared(attempt)) ?? attempts.at(-1));
  }
}

/** A reply is lost only where a request was seen to leave. */
function answerOf(attempt: AttemptNote | undefined): string {
  if (attempt?.status !== undefined) return `The service answered ${attempt.status}.`;
  return attempt?.wireRequests ? "The reply was lost." : "No answer was seen.";
}

/** Told to a model. */
export function unknownWords(
  { reason, because }: { readonly reason: UnknownReason; readonly because?: string | undefined },
  isChecked: boolean,
): string {
  const why = because ?? whyUnknown({ attempts: [] }, reason);
  const happened = reason === "partial" ? "The rest may have, too." : "It may have happened.";
  if (reason === "abandoned") return `${happened} ${why} It is not sent again. Do not call again.`;
  const who = isChecked ? "it is being checked" : "a person must check";
  return `${why} ${happened} Do not call again; ${who}.`;
}

/**
 * Whether anything but a person finds out what happened: reconcile reads with the reader of a tool that it knows, unless
 * that reader was seen to miss a commit.
 */
export const isChecked = (name: string, { known }: Engine): boolean => {
  const tool: Tool | undefined = known.tools.get(name);
  return tool?.readState !== undefined && !tool.learned.readerBlind;
};

/** Told to a model. */
export function inProgressWords({ reason }: { readonly reason?: string | undefined }): string {
  const what = reason === "still_running" ? "It is still running" : "It is still in progress";
  return `${what} and may still land. Do not call again; ask for its status later.`;
}

/** Why it is certain that nothing happened. */
export function notAppliedWords({
  reason,
  rejection,
  answered,
}: {
  readonly reason: NotAppliedReason;
  readonly rejection?: Rejection | undefined;
  readonly answered?: number | undefined;
}): string {
  switch (reason) {
    case "rejected":
      return `${saidNo(rejection)} Nothing happened. The same call would be rejected again.`;
    case "refused":
      return `${answered === undefined ? "The service refused it for now." : `The service answered ${answered}: not now.`} Nothing happened.`;
    case "not_sent":
      // Of the request: what it did beside it, if anything, was not seen.
      return "It was not sent.";
    case "absent":
      return "The service does not have it. Nothing happened.";
    case "resolved":
      return "A person found that it did not happen.";
    case "aborted":
      return "It was stopped before anything was sent.";
    case "expired":
      return "The time was up before anything was sent.";
  }
}

function saidNo({ status, code }: Rejection = {}): string {
  const said = [status, code].filter((part) => part !== undefined).join(" ");
  return said ? `The service said no (${said}).` : "The service said no.";
}
