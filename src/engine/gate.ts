/**
 * The seam for people and lanes: what stands between an operation and its claim.
 *
 * @module
 */

import type { LaneChange } from "../ledger/store.ts";
import type { Engine } from "./engine.ts";
import type { Flight } from "./flight.ts";

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
  | { readonly tag: "denied"; readonly by: string };

export interface Gate {
  /** Asked before each claim. Must send nothing. */
  admit(flight: Flight, engine: Engine): Promise<Admission>;
}

/** For tools that need nobody's leave. */
export const openGate: Gate = { admit: async () => ({ tag: "pass" }) };
