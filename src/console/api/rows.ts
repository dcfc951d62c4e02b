/**
 * An operation as the console tells it: bounded, and with hidden characters made visible.
 *
 * @module
 */

import type { Holdfire } from "../../api.ts";
import { intentText, othersUnknown } from "../../describe/decision-facts.ts";
import { sentenceFor } from "../../describe/sentence.ts";
import type { OperationView } from "../../engine/admin/operations.ts";
import { visible } from "../../key/escape-hidden.ts";
import type { AlsoUnknown, OperationRow } from "../model.ts";

/** Of a name. Callers are held to 128 to 512 characters; a server behind MCP may have named a tool. */
const LONGEST_NAME = 200;

export const rowOf = (operation: OperationView): OperationRow => ({
  id: operation.id,
  key: operation.key,
  tool: visible(operation.tool, LONGEST_NAME),
  scope: visible(operation.scope, LONGEST_NAME),
  status: operation.status,
  reason: operation.reason,
  resource: operation.resource && visible(operation.resource, LONGEST_NAME),
  fired: operation.fired,
  createdAt: operation.createdAt,
  at: operation.at,
});

/** What else of its scope is unknown. */
export async function alsoUnknownTo(
  hf: Holdfire,
  operation: OperationView,
): Promise<readonly AlsoUnknown[]> {
  const others = await othersUnknown(hf, operation);
  return others.map((one) => ({
    id: one.id,
    tool: visible(one.tool, LONGEST_NAME),
    sentence: sentenceFor(one),
    intent: intentText(one),
  }));
}
