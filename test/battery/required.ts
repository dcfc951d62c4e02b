/** What a run must have met to count: fault points, people, licences, and reasons for holding fire. */

import type { NotAppliedReason, UnknownReason } from "../../src/reasons.ts";
import { FATES, READ_FATES, STORE_FATES } from "./world/fates.ts";
import { MANNERS } from "./world/manners.ts";

/**
 * Left out: `lease_lost` and `owner_lost` (an outcome only when two faults fall within milliseconds),
 * and `store_lost` (this store loses nothing that it has acknowledged).
 */
const REASONS: readonly UnknownReason[] = [
  "lost_reply",
  "absent_unproven",
  "cannot_tell",
  "in_progress",
  "deadline",
  "attempts",
  "budget",
  "key_expired",
  "key_spent",
  "key_unused",
  "reader_blind",
  "rejected_in_doubt",
  "unverified",
  "partial",
  "reworded",
  "stopped",
  "store_down",
  "abandoned",
];

const CERTAINTIES: readonly NotAppliedReason[] = ["rejected", "not_sent", "absent", "aborted"];

const EVENTS = [
  "crash",
  "freeze-stopped",
  "freeze-suspended",
  "stall-stopped",
  "stall-suspended",
  "thaw",
  "store-down",
  "store-up",
  "store-fates",
  "wall-step",
  "person",
  "prune",
  "power-cut",
  "store-clock",
];

export const required: readonly string[] = [
  ...FATES.map((fate) => `fate:${fate}`),
  ...READ_FATES.map((fate) => `read:${fate}`),
  ...STORE_FATES.map((fate) => `store:${fate}`),
  ...["refuses", "hangs"].map((how) => `store-down:${how}`),
  ...EVENTS.map((event) => `event:${event}`),
  ...REASONS.map((reason) => `unknown:${reason}`),
  ...CERTAINTIES.map((reason) => `not_applied:${reason}`),
  ...["committed", "in_progress", "held", "conflict", "result-lost", "unrecorded", "reworded"].map(
    (outcome) => `outcome:${outcome}`,
  ),
  ...["first", "not_sent", "refused", "absent", "keyed", "person"].map(
    (licence) => `licence:${licence}`,
  ),
  ...["reply", "read", "late", "person"].map((via) => `via:${via}`),
  ...["committed", "not_applied", "approved"].map((as) => `person:${as}`),
  "in_progress:still_running",
  ...MANNERS.map((manner) => `manner:${manner}`),
  "service:key-replayed",
  "takeover",
  "wire:late",
  "evicted",
];
