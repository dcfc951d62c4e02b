/**
 * Ready rules for `@modelcontextprotocol/server-memory`. Its hints say which tools read and which destroy.
 *
 * @module
 */

import type { GatewayRule, ToolRules } from "../guard/rules.ts";

/** What is there already is left as it is, and what is not there is not deleted: done twice is done once. */
const SAME_TWICE: GatewayRule = { keyed: { forMs: 600_000 } };

export const memory: ToolRules = {
  create_entities: SAME_TWICE,
  create_relations: SAME_TWICE,
  add_observations: SAME_TWICE,
  delete_entities: SAME_TWICE,
  delete_observations: SAME_TWICE,
  delete_relations: SAME_TWICE,
};
