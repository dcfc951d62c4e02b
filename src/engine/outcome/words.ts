/**
 * The sentences about an outcome. They follow the facts: what was answered, what failed, what is known, what happens
 * next, and who must act. Three kinds of readers get them:
 *
 *   a model      by `reply.ts`; by `admin/status.ts` when it asks later
 *   a developer  by `because` and `hint` (`hints.ts`) of an outcome (`build.ts`), and so by error messages
 *   a person     by `describe/sentence.ts`, at the command line and in the console
 *
 * Other sentences are elsewhere: how an attempt failed ("The reply was lost.") in `failure-words.ts`; what a model is told of
 * `committed` and `conflict` in `reply.ts`; what only a model that asks later is told in `admin/status.ts`.
 *
 * @module
 */

import type { Failure } from "../../classify/failure.ts";
import {
  type AttemptNote,
  isCleared,
  type OperationRecord,
  type Rejection,
} from "../../ledger/record.ts";
import type { NotAppliedReason, UnknownReason } from "../../reasons.ts";
import type { Tool } from "../define/tool.ts";
import type { Engine } from "../engine.ts";
import type { Common, Outcome } from "../operation/outcome.ts";
import { attemptWords, serviceSaid, thrownWords, toolSaid } from "./failure-words.ts";

type Attempts = Pick<OperationRecord, "attempts">;

/** The service answered it, or `run` threw in place of its answer. */
export const isAnswered = ({ status, failure }: AttemptNote): boolean =>
  status !== undefined || failure?.answered === true;

/** The status that the service answered last, if it answered. */
export const lastAnswer = ({ attempts }: Attempts): number | undefined => attempts.at(-1)?.status;

/** The attempt that the words are about. */
export function attemptTold(
  { attempts }: Attempts,
  reason?: UnknownReason,
): AttemptNote | undefined {
  const last = attempts.at(-1);
  if (reason === undefined || reason === "rejected_in_doubt") return last;
  return attempts.findLast((attempt) => !isCleared(attempt)) ?? last;
}

/** Why it is unknown: what is known of it, in a sentence. `failure` is that of the attempt told. */
export function whyUnknown(record: Attempts, reason: UnknownReason, failure?: Failure): string {
  const attempt = attemptTold(record, reason);
  switch (reason) {
    case "in_progress":
      return "The service has accepted it and is not done.";
    case "unverified":
      return "The service said yes, and a check did not confirm it.";
    case "partial": {
      // The failure of an operation inside has a record of its own.
      const hasOurs = failure?.code?.startsWith("ERR_HOLDFIRE_");
      const threw = hasOurs ? undefined : thrownWords(failure);
      return `A part of it happened, or may have.${threw ? ` The tool failed with ${threw}.` : ""}`;
    }
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
      return `${attemptWords(attempt, failure)} An earlier attempt may have succeeded.`;
    default:
      return attemptWords(attempt, failure);
  }
}

/**
 * The store may have forgotten an earlier call, and the reader cannot tell: this call has sent nothing and left no
 * record, so nothing settles it but the same call.
 */
export const FORGETFUL = {
  because:
    "Nothing was sent by this call: the ledger may have forgotten an earlier one, and the state could not be read.",
  hint: "The same call reads again.",
} as const;

/** The ledger has not answered for longer than the lease: this call has sent nothing, and another process may have. */
export const TAKEN = {
  because:
    "Nothing was sent by this call. The ledger does not answer, and another process may have made the call since.",
  hint: "The same call asks the ledger again.",
} as const;

/** Who finds out what happened: a reconcile that runs in this process, a reader that can be asked, or a person. */
export type Checker = "reconcile" | "reader" | "person";

const CHECKS: Readonly<Record<Checker, string>> = {
  reconcile: "it is being checked",
  reader: "it stays open until it is checked",
  person: "a person must check",
};

interface Unknown extends Pick<Common, "recorded" | "attempts"> {
  readonly reason: UnknownReason;
  readonly because?: string | undefined;
}

/** Told to a model. */
export function unknownWords(
  { reason, because, recorded, attempts }: Unknown,
  checker: Checker,
): string {
  const why = because ?? whyUnknown({ attempts: [] }, reason);
  const happened = reason === "partial" ? "The rest may have, too." : "It may have happened.";
  if (reason === "abandoned") return `${happened} ${why} It is not sent again. Do not call again.`;
  // There is no record that could be checked, only the same call can; see `FORGETFUL`.
  if (!recorded && attempts === 0) {
    if (reason === "lease_lost") return `${why} The same call may be made again: it asks first.`;
    return `${why} ${happened} The same call may be made again: it reads first, and sends nothing unless the state can be read.`;
  }
  return `${why} ${happened} Do not call again; ${CHECKS[checker]}.`;
}

/** Reconcile reads with the reader of a tool that it knows, unless that reader was seen to miss a commit. */
export function checkerOf(name: string, { tenantState }: Engine): Checker {
  const tool: Tool | undefined = tenantState.tools.get(name);
  if (!tool?.readState || tool.learned.readerBlind) return "person";
  return tenantState.reconciles ? "reconcile" : "reader";
}

/** Told to a model. */
export function inProgressWords({ reason }: { readonly reason?: string | undefined }): string {
  const what = reason === "still_running" ? "It is still running" : "It is still in progress";
  return `${what} and may still land. Do not call again; ask for its status later.`;
}

type NotAppliedOutcome = Extract<Outcome<unknown>, { status: "not_applied" }>;

interface NotApplied {
  readonly reason: NotAppliedReason;
  readonly rejection?: Rejection | undefined;
  readonly answered?: number | undefined;
}

/** Why it is certain that nothing happened: what is known of it, in a sentence. */
export function whyNotApplied(
  { reason, rejection, answered }: NotApplied,
  attempt?: Partial<AttemptNote>,
  failure?: Failure,
): string {
  switch (reason) {
    case "rejected":
      return failure?.byTool ? toolSaid(failure) : saidNo(rejection, failure);
    case "refused": {
      const said = failure?.said ? ` ${serviceSaid(failure.said)}` : "";
      return `${answered === undefined ? "The service refused it for now." : `The service answered ${answered}: not now.`}${said}`;
    }
    case "not_sent":
      return notSent(attempt, failure);
    case "unanswered":
      return attemptWords({ ...attempt, status: attempt?.status ?? answered }, failure);
    case "absent":
      return "The service does not have it.";
    case "resolved":
      return "A person found that it did not happen.";
    case "aborted":
      return "It was stopped before anything was sent.";
    case "expired":
      return "The time was up before anything was sent.";
  }
}

const SAME_ANSWER = " The same call gets the same answer.";

const CONSEQUENCES: Partial<Readonly<Record<NotAppliedReason, string>>> = {
  rejected: ` Nothing happened.${SAME_ANSWER}`,
  refused: " Nothing happened.",
  absent: " Nothing happened.",
};

/** Told to a model. A read changes nothing, and leaves no record that would answer it again. */
export function notAppliedWords(
  told: NotApplied & Pick<NotAppliedOutcome, "because" | "hint">,
  isRead = false,
): string {
  const why = told.because ?? whyNotApplied(told);
  if (isRead) return why;
  const isReplayed = told.reason === "not_sent" && told.hint !== undefined;
  return `${why}${isReplayed ? SAME_ANSWER : (CONSEQUENCES[told.reason] ?? "")}`;
}

/** Told to a model. */
export const deniedWords = ({ by }: { readonly by: string }): string =>
  by === "onDrift"
    ? "It is not what an earlier call wrote to the same thing, and its tool refuses that. Nothing was sent. Do not call again."
    : "A person said no. Nothing was sent. Do not call again.";

const HELD = {
  lane: "Nothing was sent: an earlier write to the same thing is not settled. Do not call again.",
  drift:
    "Nothing was sent yet: it may be an earlier call in other words, and a person must decide. Do not call again until told.",
  approval: "Nothing was sent yet: a person must approve it first. Do not call again until told.",
} as const;

/** Told to a model. */
export const heldWords = ({ reason }: { readonly reason: keyof typeof HELD }): string =>
  HELD[reason];

/** Of the request: what the tool did beside it, if anything, was not seen. */
function notSent(attempt: Partial<AttemptNote> | undefined, failure: Failure | undefined): string {
  if (attempt?.innerOnly)
    return "An operation inside it was not applied, and nothing else was sent.";
  if (attempt?.innerOnly === false)
    return "An operation inside it was not applied. What else it did, if anything, was not seen.";
  const threw = thrownWords(failure);
  if (attempt?.declared?.enlisted) {
    return `Its transaction cannot be committed${threw ? ` (${threw})` : ""}. Nothing happened.`;
  }
  return threw ? `It was not sent: ${threw}.` : "It was not sent.";
}

function saidNo({ status, code }: Rejection = {}, failure: Failure | undefined): string {
  const said = [status, code].filter((part) => part !== undefined).join(" ");
  const no = said ? `The service said no (${said}).` : "The service said no.";
  if (failure?.said) return `${no} ${serviceSaid(failure.said)}`;
  const threw = thrownWords(failure);
  return threw ? `${no} The tool failed with ${threw}.` : no;
}
