/**
 * What a person should know before they decide about an operation: what was asked for, and what else of its scope is
 * unknown.
 *
 * @module
 */

import type { Holdfire } from "../api.ts";
import type { OperationView } from "../engine/admin/operations.ts";
import { jsonText, visible } from "../key/escape-hidden.ts";
import { SEPARATOR } from "../key/scope.ts";

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
