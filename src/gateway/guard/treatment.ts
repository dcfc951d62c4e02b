/**
 * How a tool's calls are treated: by what the user says of it, else by the server's own hints.
 *
 * A hint that it only reads is believed: such calls go through. Of a tool that says nothing it is not known
 * whether it writes: a lost answer is guarded, and a repeat after a received one goes through, since it may be a read.
 *
 * @module
 */

import type { IsErrorMeans } from "../../classify/mcp.ts";
import type { McpTool } from "../../integrations/mcp/sdk.ts";
import type { GatewayRule, Repeat } from "./rules.ts";

export type Treatment =
  | { readonly tag: "pass" }
  | {
      readonly tag: "guard";
      /** A person must say yes first. */
      readonly asks: boolean;
      /** It is said to write, by the user or by the server. */
      readonly writes: boolean;
      readonly isErrorMeans: IsErrorMeans;
      readonly repeat: Repeat;
    };

export interface ToolFacts {
  /** As the server lists it; `undefined` if it does not. */
  readonly tool: McpTool | undefined;
  readonly rule: GatewayRule;
  /** Its definition is not the one that was listed first: what was agreed to is not what is there now. */
  readonly changed: boolean;
  /** What the gateway was told for all tools. */
  readonly repeat: Repeat;
}

export function treatmentOf({ tool, rule, changed, repeat }: ToolFacts): Treatment {
  const { kind, isErrorMeans = kind ? "unknown" : "rejected" } = rule;
  const hints = tool?.annotations ?? {};
  const guarded = { tag: "guard", isErrorMeans, repeat: rule.repeat ?? repeat } as const;
  if (changed && kind === undefined) return { ...guarded, asks: true, writes: true };
  if (kind !== undefined) {
    return kind === "read"
      ? { tag: "pass" }
      : { ...guarded, asks: kind === "destructive", writes: true };
  }
  if (hints.readOnlyHint === true) return { tag: "pass" };
  const asks = hints.destructiveHint === true;
  return { ...guarded, asks, writes: asks || hints.readOnlyHint === false };
}
