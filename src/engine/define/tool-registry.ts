/**
 * The declaration behind a guarded tool, for the parts of this package that read it. Not public.
 *
 * @module
 */

import type { Tool } from "./tool.ts";

const tools = new WeakMap<object, Tool>();

export function registerTool<T extends object>(guarded: T, tool: Tool): T {
  tools.set(guarded, tool);
  return guarded;
}

/** `undefined`: it is no guarded tool, or one of another copy of this package. */
export const toolOf = (guarded: object): Tool | undefined => tools.get(guarded);
