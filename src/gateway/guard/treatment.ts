/**
 * How a tool's calls are treated: by what the user says of it, else by the server's own hints.
 *
 * A hint that it only reads is believed: such calls go through. Of a tool that says nothing it is not known
 * whether it writes: a lost answer is guarded, and a repeat after a received one goes through, since it may be a read.
 *
 * @module
 */

import type { OnDrift } from "../../engine/define/definition.ts";
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
      /**
       * An answer with an error ends the call once the host has it: the host hears the server's own words, and the same
       * call again is a new one. Else the model is told that the outcome is unknown, or what the rule says.
       */
      readonly errorEnds: boolean;
      readonly repeat: Repeat;
      readonly onDrift: OnDrift;
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
  const { kind, isErrorMeans } = rule;
  const errorEnds = kind === undefined && isErrorMeans === undefined;
  const hints = tool?.annotations ?? {};
  const guarded = (asks: boolean, writes: boolean): Treatment => ({
    tag: "guard",
    asks,
    writes,
    errorEnds,
    repeat: rule.repeat ?? repeat,
    // Of a tool that may be a read, another call is no other wording of the first.
    onDrift: rule.onDrift ?? (writes ? "hold" : "allow"),
  });
  if (changed && kind === undefined) return guarded(true, true);
  if (kind !== undefined) {
    return kind === "read" ? { tag: "pass" } : guarded(kind === "destructive", true);
  }
  if (hints.readOnlyHint === true) return { tag: "pass" };
  const asks = hints.destructiveHint === true;
  return guarded(asks, asks || hints.readOnlyHint === false);
}
