/**
 * What would let holdfire decide next time: one sentence with each unknown outcome.
 *
 * @module
 */

import type { OperationRecord, UnknownReason } from "../../ledger/record.ts";

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
