/**
 * A question to a person: why it is asked, and whether and what of it can be shown.
 *
 * @module
 */

import type { PlannedChange } from "../engine/define/definition.ts";
import type { Approval } from "../gate/approvals.ts";
import type { Json } from "../key/canonical.ts";
import { isJsonObject, type JsonObject } from "../key/json.ts";

/** Follows "needs approval because". */
export const WHY_ASKED = {
  approval: "it is destructive",
  drift: "it differs from an earlier call in this scope",
} as const;

/** Whether the person can see what is asked; else there is nothing to approve. */
export const canBeShown = ({ shown }: Approval): boolean => shown !== undefined;

/** What the tool planned; `undefined` if it has no plan. It was checked when the question was made. */
export function changesOf(plan: Json | undefined): readonly PlannedChange[] | undefined {
  const changes = isJsonObject(plan ?? null) ? (plan as JsonObject).changes : undefined;
  return Array.isArray(changes) ? (changes as unknown as PlannedChange[]) : undefined;
}
