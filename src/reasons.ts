/**
 * The values by which an operation is told: what an attempt proved, what allowed it to be fired, what it changed, and
 * why its outcome is unknown or certainly not applied. The ledger keeps them, and errors say them.
 *
 * @module
 */

/** What one attempt proved. */
export type Verdict =
  | "committed" // it happened
  | "not_sent" // nothing of it left
  | "refused" // the service did nothing, for now: it may be fired again
  | "rejected" // the service said no, and would say so again
  | "unknown"; // it may have happened

/**
 * What allowed a write to be fired. Granted with the claim in `ledger/moves/claim-moves.ts` (`first`, and what a later call fires
 * on), within a call in `engine/steps/parts/decide.ts`; one that can lapse is checked again in `engine/steps/parts/prepare-attempt.ts`; worded in `describe/timeline.ts`.
 */
export type Licence =
  | "first" // nothing was sent before
  | "not_sent" // nothing of any earlier attempt left
  | "refused" // the service did nothing
  | "absent" // a read proved that it did not happen
  | "keyed" // the service recognises the repetition
  | "person"; // a person said so

/** What changed in the world. */
export type Effect = "created" | "updated" | "deleted" | "noop";

/** Why the outcome is unknown. */
export type UnknownReason =
  | "lost_reply" // no answer came, and no reader can say whether it happened
  | "unclear_answer" // the service answered, and that proves nothing
  | "run_failed" // `run` threw, and no request of it was seen
  | "absent_unproven" // a read found nothing, and no `commitsWithinMs` says when that is proof
  | "cannot_tell" // the reader could not say
  | "in_progress" // the service has accepted it and is not done
  | "still_running" // the attempt had not ended when the time was up, and may still succeed
  | "deadline" // the time was up before it could be read or fired again
  | "attempts" // it was fired as often as the tool allows
  | "budget" // the retry budget of the service had no token before the deadline
  | "key_expired" // the service may have forgotten the key
  | "key_spent" // the service answers this key with the same failure again
  | "key_unused" // `run` never took the key
  | "reader_blind" // the reader missed a commit that is known
  | "rejected_in_doubt" // the last answer was a no, but an earlier attempt may have succeeded
  | "unverified" // the service said yes, and `verify` did not confirm it
  | "partial" // part of it happened in operations made inside it
  | "reworded" // still open, and the arguments differ from those of the first attempt
  | "late_send" // a request left after the attempt had ended and was told as not applied
  | "stopped" // all callers have left
  | "lease_lost" // another process took it over or may have, or its record is gone
  | "owner_lost" // the process that fired it is gone, as reconcile tells it (a call that took over tells the reply as lost)
  | "abandoned" // a person let another call pass in its place
  | "store_down" // the ledger did not answer
  | "store_lost"; // the ledger has lost data

/** Why it is certain that nothing happened. */
export type NotAppliedReason =
  | "rejected" // the service said no
  | "not_sent" // nothing of it left
  | "refused" // the service did nothing, for now
  | "unanswered" // of a read: it got no answer that it could use
  | "absent" // a read proved it
  | "resolved" // a person said so
  | "aborted" // all callers left before it was sent
  | "expired"; // the time was up before it was sent
