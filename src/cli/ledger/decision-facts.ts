/**
 * Prints what else of an operation's scope is unknown, beside a decision about it.
 *
 * @module
 */

import { intentText, MOST_NAMED } from "../../describe/scope-facts.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { columnLines, paintStatus, type Terminal, visible } from "../terminal.ts";

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
