/**
 * What a move leads to: a change to write, nothing to write because it is already so, or a refusal.
 *
 * @module
 */

import type { Refusal } from "./moves.ts";
import type { OperationRecord, Stored } from "./record.ts";
import type { LeaseChange } from "./store.ts";

export type Applied =
  | {
      readonly tag: "write";
      /** `undefined` removes the record. */
      readonly record: OperationRecord | undefined;
      readonly lease: LeaseChange;
      readonly report?: "duplicate" | "corrected" | undefined;
    }
  /** The move is legal, and the record already says so. */
  | { readonly tag: "same" }
  | { readonly tag: "refused"; readonly why: Refusal };

export const refused = (why: Refusal): Applied => ({ tag: "refused", why });

export const write = (record: OperationRecord, lease: LeaseChange): Applied => ({
  tag: "write",
  record,
  lease,
});

export const hasLapsed = ({ leaseUntil }: Stored, now: number): boolean =>
  leaseUntil === undefined || now >= leaseUntil;
