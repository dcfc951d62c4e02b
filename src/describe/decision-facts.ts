/**
 * What a person should know before they decide about an operation: why they are asked, what was asked for and can be shown,
 * and what else of its scope is unknown.
 *
 * @module
 */

import type { Holdfire } from "../api.ts";
import type { OperationView } from "../engine/admin/operations.ts";
import type { PlannedChange } from "../engine/define/definition.ts";
import type { Approval } from "../gate/approvals.ts";
import type { Drift } from "../gate/drift.ts";
import { jsonText, visible } from "../key/escape-hidden.ts";
import type { Json } from "../key/json.ts";
import { isJsonObject, type JsonObject } from "../key/json.ts";
import { SEPARATOR } from "../key/scope.ts";
import { peek } from "../lang/peek.ts";

/** More than a person wants to choose from. */
export const MOST_NAMED = 5;

/** A scope as it is printed, as the ledger has it. */
export const scopeFrom = (shown: string): string => shown.split(" › ").join(SEPARATOR);

/** Others of the same scope that are unknown, the oldest first; one more than are shown, if there are more. */
export async function othersUnknown(
  hf: Holdfire,
  { id, scope }: Pick<OperationView, "id" | "scope">,
): Promise<readonly OperationView[]> {
  const query = { scope: scopeFrom(scope), status: ["unknown"], limit: MOST_NAMED + 2 } as const;
  const { items } = await hf.operations.list(query);
  const others = items.filter((one) => one.id !== id).slice(0, MOST_NAMED + 1);
  return Promise.all(others.map(async (one) => (await hf.operations.get(one.id)) ?? one));
}

/** What stands in the ledger of an operation's intent, on one line; `undefined` if nothing does. */
export function intentText({
  intent,
  sealed,
}: Pick<OperationView, "intent" | "sealed">): string | undefined {
  if (sealed) return "encrypted with a key that this command does not have";
  return intent === undefined ? undefined : visible(jsonText(intent, 0), LONGEST_INTENT);
}

const LONGEST_INTENT = 300;

/** Follows "needs approval because". */
export const WHY_ASKED = {
  approval: "it is destructive",
  drift: "it may be an earlier call in other words",
} as const;

/** Whether the person can see what is asked; else there is nothing to approve. */
export const canBeShown = ({ shown }: Approval): boolean => shown !== undefined;

/** What the tool planned; `undefined` if it has no plan. It was checked when the question was made. */
export function changesOf(plan: Json | undefined): readonly PlannedChange[] | undefined {
  const changes = isJsonObject(plan ?? null) ? (plan as JsonObject).changes : undefined;
  return Array.isArray(changes) ? (changes as unknown as PlannedChange[]) : undefined;
}

/** The earlier call that it may be, and what a yes does to that one; of its intent at most so many characters. */
export function driftLines(drift: unknown, most?: number): readonly string[] {
  if (drift === undefined) return [];
  const intent = peek(drift, "intent");
  const earlier =
    intent === undefined
      ? `operation ${visible(String(peek(drift, "from")))}`
      : visible(JSON.stringify(intent), most);
  switch (peek(drift, "why") as Drift["why"]) {
    case "unsettled":
      return [
        `An earlier call of this tool is not settled, and may have happened: ${earlier}`,
        "A yes gives that one up: it is not sent again.",
      ];
    case "version":
      return [
        `Another version of this tool has left a call open, which may have happened: ${earlier}`,
      ];
    case "committed_since":
      return [`An earlier call of this tool, which was told as open, is done by now: ${earlier}`];
    // "earlier_run", and what a newer version may have written.
    default:
      return [`It differs from an earlier call of this tool, which is done: ${earlier}`];
  }
}
