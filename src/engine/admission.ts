/**
 * What the gate answers before a claim: pass, wait for a person, or stay out.
 *
 * @module
 */

import type { Stored } from "../ledger/record.ts";
import type { LaneChange, StoredLane } from "../ledger/store.ts";

/** What one claim has met so far, kept between one question to the gate and the next. */
export interface Visit {
  /** The lane as the store said it was, when the claim found another. */
  lane?: StoredLane | undefined;
  /** The claim found that a person is asked about the operation. */
  held?: boolean | undefined;
  /** Until when it waits for its lane, on the monotonic clock. */
  waitUntil?: number | undefined;
  /** When its ticket in the lane's queue runs out, on the ledger's clock. */
  ticketUntil?: number | undefined;
}

export type Admission =
  | {
      readonly tag: "pass";
      /** The digest of the approval that the claim is to spend. */
      readonly spend?: string | undefined;
      /** The claim may fire only by spending an approval. */
      readonly needsYes?: boolean | undefined;
      /** The lane that the claim is to take. */
      readonly lane?: LaneChange | undefined;
    }
  | {
      readonly tag: "held";
      readonly reason: "approval" | "drift" | "lane";
      readonly resource?: string | undefined;
      readonly blockedBy?: string | undefined;
    }
  | { readonly tag: "denied"; readonly by: string }
  /** The lane is not free, and need not be: nothing would be fired. */
  | { readonly tag: "known"; readonly stored: Stored }
  /** The tool's own plan failed: no person can be asked, and nothing is sent. */
  | { readonly tag: "failed"; readonly error: unknown }
  /** All callers have left, or the time is up. */
  | { readonly tag: "stopped" };
