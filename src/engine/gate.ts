/**
 * The seam for people and lanes: what stands between an operation and its claim.
 *
 * @module
 */

import { InvalidInputError } from "../errors.ts";
import type { Canonical } from "../key/canonical.ts";
import type { Stored } from "../ledger/record.ts";
import type { LaneChange, StoredLane } from "../ledger/store.ts";
import type { Execution } from "./call/execution.ts";
import type { Naming } from "./call/operation.ts";
import type { Bounds } from "./call/perform.ts";
import type { PlannedCall } from "./define/planned-call.ts";
import type { Engine, Tool } from "./engine.ts";

/** What one claim has met so far, kept between one question to the gate and the next. */
export interface Visit {
  /** The lane as the store said it was, when the claim found another. */
  lane?: StoredLane | undefined;
  /** The claim found that a person is asked about it. */
  held?: boolean | undefined;
  /** Until when it waits for its lane, on the monotonic clock. */
  waitUntil?: number | undefined;
  /** When its ticket runs out, on the ledger's clock. */
  ticketUntil?: number | undefined;
}

/** The gate's word. */
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
  /** The user's own plan failed: nobody can be asked, and nothing is sent. */
  | { readonly tag: "failed"; readonly error: unknown }
  /** Nobody waits any more, or the time is up. */
  | { readonly tag: "stopped" };

export interface Gate {
  /** Asked before each claim. Must send nothing. */
  admit(execution: Execution, engine: Engine, visit: Visit): Promise<Admission>;
  /** Tells of a call without making it. */
  plan(
    tool: Tool,
    args: Canonical,
    options: Naming,
    bounds: Bounds,
    engine: Engine,
  ): Promise<PlannedCall>;
  /** The claim is not made after all: gives back what admission has taken. */
  leave?(execution: Execution, engine: Engine, visit: Visit): Promise<void>;
}

/** For tools that need nobody's leave. */
export const openGate: Gate = {
  admit: async () => ({ tag: "pass" }),
  plan: async () => {
    throw new InvalidInputError("plan", "is made by a gate, and there is none");
  },
};

/** A gate that is loaded when somebody first comes to it. */
export function lazyGate(load: () => Promise<Gate>): Gate {
  let gate: Gate | undefined;
  return {
    async admit(...given) {
      gate ??= await load();
      return gate.admit(...given);
    },
    async plan(...given) {
      gate ??= await load();
      return gate.plan(...given);
    },
    leave: async (...given) => gate?.leave?.(...given),
  };
}
