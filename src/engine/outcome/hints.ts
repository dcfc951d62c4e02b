/**
 * What a developer is told to do about an outcome: what would have let holdfire decide, and what lets the same call be made
 * again. The sentences about what happened are in `words.ts`.
 *
 * @module
 */

import { isClearNo } from "../../classify/http.ts";
import { type AttemptNote, isCertainlyUnsent, type OperationRecord } from "../../ledger/record.ts";
import type { NotAppliedReason, UnknownReason } from "../../reasons.ts";

type Attempts = Pick<OperationRecord, "attempts">;

/** What would let holdfire decide next time. */
export function hintFor({ attempts }: Attempts, reason: UnknownReason): string {
  const last = attempts.at(-1);
  if (reason === "unclear_answer") return afterAnswer(last);
  const { status } = last ?? {};
  if (status === 429 || status === 503) return ifRefused(status);
  switch (reason) {
    case "lost_reply":
      return lookUp("a lost reply");
    case "run_failed":
      return 'Where run knows that nothing happened, throw notApplied(why). Where all that it does goes through context.fetch, declare via: "http".';
    case "absent_unproven":
      return "Declare commitsWithinMs, so that an absence can become proof.";
    case "cannot_tell":
      return 'readState could not tell. The event "read" says why. The same call, or reconcile, reads again.';
    case "key_unused":
      return "Send the key: take it from run's second argument.";
    case "abandoned":
      return "A person let another call pass in its place; it is not sent again.";
    case "reader_blind":
      return "The reader missed a commit that is known; fix readState.";
    default:
      return "It is listed in hf.operations; reconcile or a person settles it.";
  }
}

/** The service answered, and that proves nothing by itself. */
function afterAnswer({ status = 0, failure, wireRequests = 0 }: Partial<AttemptNote> = {}): string {
  if (status === 429 || status === 503) return `${lookUp("it")} ${ifRefused(status)}`;
  if (status >= 200 && status < 300) {
    return `Where the answer says that nothing happened, throw notApplied(why). ${lookUp("it")}`;
  }
  // Of several requests another one may have succeeded.
  if (isClearNo(status) && !failure && wireRequests === 1) {
    return "run returned a value all the same: throw where response.ok is false, and it is not applied.";
  }
  return lookUp("it");
}

const lookUp = (what: string): string =>
  `Declare readState, or keyed if the service honours keys, so that ${what} can be looked up.`;

const ifRefused = (status: number): string =>
  `Only if the service certainly does nothing when it answers ${status}, declare refuses: [${status}].`;

/** What lets the same call be made again, where it is answered from the record until then. */
export function hintAgain({ attempts }: Attempts, reason: NotAppliedReason): string | undefined {
  const again = 'The same call is answered from the record; { retry: "why" } makes it again.';
  if (reason === "rejected") return again;
  const last = attempts.at(-1);
  if (reason !== "not_sent" || !last || isCertainlyUnsent(last)) return undefined;
  return `${again} Where all that run does goes through context.fetch, declare via: "http": then it needs no retry.`;
}
