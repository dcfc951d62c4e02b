/**
 * What the tools of a config declare: which writes nobody can look up or repeat safely, and which take
 * deltas.
 *
 * @module
 */

import { toolOf } from "../../engine/define/tool.ts";
import { UsageError } from "../exit.ts";
import { deltasIn } from "./deltas.ts";

export interface ToolFinding {
  readonly tool: string;
  readonly kind: string;
  /** Neither keyed nor conditional nor readable: a lost reply stays unknown until a person looks. */
  readonly blind: boolean;
  /** Properties that look like deltas; `undefined`: the schema could not be read. */
  readonly deltas: readonly string[] | undefined;
}

/** Tools that read are left out: there is nothing to lose. */
export function toolFindings(tools: readonly object[]): readonly ToolFinding[] {
  return tools.flatMap((guarded) => {
    const tool = toolOf(guarded);
    if (!tool) {
      throw new UsageError(
        "The config's tools belong to another copy of holdfire.",
        "Run the one that the project has: npx holdfire doctor",
      );
    }
    const { name, kind, keyedForMs, conditional, readState, input } = tool;
    if (kind === "read") return [];
    const blind = keyedForMs === undefined && !conditional && readState === undefined;
    return [{ tool: name, kind, blind, deltas: deltasIn(input) }];
  });
}
