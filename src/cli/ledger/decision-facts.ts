/**
 * What a person should know before they decide about an operation: what was asked for, and what else of its scope is
 * unknown.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { columnLines, jsonText, paintStatus, type Terminal, visible } from "../terminal.ts";
import { MOST_NAMED, scopeFrom } from "./operations.ts";

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

export function othersLines(
  others: readonly OperationView[],
  terminal: Terminal,
): readonly string[] {
  if (others.length === 0) return [];
  const rows = others
    .slice(0, MOST_NAMED)
    .map((one) => [
      `  ${one.key}`,
      visible(one.tool, 40),
      paintStatus(one, terminal),
      intentText(one) ?? "",
    ]);
  const more = others.length > MOST_NAMED ? ["  … and more: holdfire ls --status unknown"] : [];
  return ["Also unknown in this scope:", ...columnLines(rows), ...more];
}
