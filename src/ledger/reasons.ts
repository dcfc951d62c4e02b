/**
 * The values by which an operation is told: what an attempt proved, what allowed it to be fired, what it changed,
 * and why its outcome is what it is.
 *
 * @module
 */

export type { NotAppliedReason, UnknownReason } from "../reasons.ts";

/** What one attempt proved. */
export type Verdict =
  | "committed" // it happened
  | "not_sent" // nothing of it left
  | "refused" // the service did nothing, for now: it may be fired again
  | "rejected" // the service said no, and would say so again
  | "unknown"; // it may have happened

/**
 * What allowed a write to be fired. Granted in `engine/steps/decide.ts`, or to a later call in `moves/claim-moves.ts`; one
 * that can lapse is checked again in `engine/steps/prepare-attempt.ts`; worded in `describe/timeline.ts`.
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
