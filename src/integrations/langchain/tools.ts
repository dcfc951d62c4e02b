/**
 * Guards the tools of LangChain and LangGraph: single tools, agents by middleware, ToolNode, tools called in
 * a node.
 *
 * A node is run again by `retryPolicy`, after `interrupt` and after a crash; ToolNode then also runs those of
 * its parallel calls that had gone well. All of these are the same turn, or the same task.
 *
 * Subpath export `"holdfire/langchain"`.
 *
 * @module
 */

import type { Holdfire } from "../../holdfire.ts";
import { checkRules, type ToolRules } from "../shared/tools/guard-tool.ts";
import { statusCall } from "../shared/tools/status-call.ts";
import { guarded, guardNamed, type LangChainTool, LINE } from "./tool.ts";
import { type LangChainTurnOptions, langChainTurn } from "./turn.ts";

export { attemptOf } from "../shared/tools/attempt-context.ts";
export type { ToolRules } from "../shared/tools/guard-tool.ts";
export {
  guardMiddleware,
  type LangChainMiddlewareOptions,
} from "./middleware.ts";
export type { LangChainTool } from "./tool.ts";
export type { LangChainTurnOptions } from "./turn.ts";

/**
 * The same tool under the guard; the model reads the envelope. Without rules it is a plain write.
 *
 * The tool's function finds the attempt by `attemptOf()`: its key, its number, and its signal. The config's own
 * `signal` is taken from tools made by `tool(…)`, as LangChain would not wait for them once it fires.
 *
 * @example
 * ```ts
 * const pay = guardTool(tool(send, { name: "pay", schema }), hf, { kind: "write", intent });
 * await createAgent({ model, tools: [pay] }).invoke({ messages }, { configurable: { thread_id } });
 * ```
 */
export function guardTool<T extends LangChainTool>(
  tool: T,
  hf: Holdfire,
  rules: ToolRules = {},
  options: LangChainTurnOptions = {},
): T {
  const call = guardNamed(hf, tool.name, rules, () => tool);
  return guarded(tool, call, rules, options);
}

/** `guardTool` for several tools, with rules by name. */
export function guardTools<const T extends readonly LangChainTool[]>(
  tools: T,
  hf: Holdfire,
  rules: Readonly<Record<string, ToolRules>> = {},
  options: LangChainTurnOptions = {},
): { -readonly [K in keyof T]: T[K] } {
  const names = tools.map(({ name }) => name);
  checkRules(rules, names);
  return tools.map((tool) => guardTool(tool, hf, rules[tool.name], options)) as never;
}

/** What `tool(…)` of LangChain takes. */
export type LangChainStatusTool = readonly [
  func: (args: unknown, config: unknown) => Promise<string>,
  fields: { readonly name: string; readonly description: string; readonly schema: object },
];

/**
 * `hf.statusTool()` for LangChain: `tool(...statusTool(hf))`.
 */
export function statusTool(hf: Holdfire, options: LangChainTurnOptions = {}): LangChainStatusTool {
  const status = hf.statusTool();
  const { toolName: name, description, inputSchema: schema } = status;
  return [
    async (args, config) =>
      JSON.stringify(await statusCall(status, args, langChainTurn(config, options), LINE)),
    { name, description, schema },
  ];
}
