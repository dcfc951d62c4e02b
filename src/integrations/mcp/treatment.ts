/**
 * How a tool is treated, from what its server says of it and what the user says of both. Pure.
 *
 * A server's hints are its own words, so they may only tighten. What would loosen (it only reads, it may be
 * repeated) counts if the user trusts the server by name. What the user says of a tool outranks its hints.
 *
 * @module
 */

import type { ToolKind } from "../../engine/define/definition.ts";
import type { McpTool } from "./sdk.ts";

export interface Treatment {
  readonly kind: ToolKind;
  /** A repeated call with the same arguments changes nothing more: the licence keyed. */
  readonly repeatable: boolean;
}

export interface Circumstances {
  /** The tool as listed; `undefined` if it is in no list. */
  readonly tool: McpTool | undefined;
  /** What the user says it is. */
  readonly declared: ToolKind | undefined;
  readonly trusted: boolean;
  readonly unannotated: "write" | "ask";
  /** Its definition is not the one that was listed first. */
  readonly changed: boolean;
}

const HINTS = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

export function treatmentOf(circumstances: Circumstances): Treatment {
  const { tool, declared, trusted, unannotated, changed } = circumstances;
  // What a person agreed to is not what is there now.
  if (changed) return { kind: "destructive", repeatable: false };
  const hints = tool?.annotations ?? {};
  const isSaid = (hint: string) => hints[hint] === true;
  const repeatable = trusted && isSaid("idempotentHint");
  if (declared !== undefined) return { kind: declared, repeatable };
  // Only what is said: by the protocol's defaults every tool would be both.
  if (isSaid("destructiveHint") || isSaid("openWorldHint"))
    return { kind: "destructive", repeatable };
  if (trusted && isSaid("readOnlyHint")) return { kind: "read", repeatable: false };
  const says = HINTS.some((hint) => typeof hints[hint] === "boolean");
  return { kind: !says && unannotated === "ask" ? "destructive" : "write", repeatable };
}
