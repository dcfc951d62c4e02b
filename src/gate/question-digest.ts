/**
 * What a yes is bound to: one hash of the operation and all that the person was shown of it.
 *
 * @module
 */

import type { Operation } from "../engine/operation/operation.ts";
import { digestText } from "../key/digest.ts";
import type { Ask } from "../ledger/record.ts";

/** What of a question is part of its digest by itself. */
export type Bound = Pick<Ask, "expiresAt" | "nonce" | "insteadOf">;

export function digestOf(
  { ref, draft }: Operation,
  shown: string,
  generation: number,
  policyVersion: string,
  { expiresAt, nonce, insteadOf }: Bound,
): string {
  return digestText(
    "approval",
    ref.tenant,
    ref.id,
    String(generation),
    draft.argsHash,
    shown,
    policyVersion,
    String(expiresAt),
    nonce,
    insteadOf,
  );
}
