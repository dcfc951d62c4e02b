/**
 * Mastra: tools of agents and steps of workflows under the guard.
 *
 * Subpath export `"holdfire/mastra"`.
 *
 * @module
 */

export { attemptOf } from "../shared/tools/guard-function.ts";
export type { RuledCall, ToolRule, ToolRules } from "../shared/tools/rules.ts";
export { guardStep, type MastraStep } from "./step.ts";
export {
  guardHooks,
  guardTools,
  type MastraHooks,
  type MastraRules,
  type MastraStatusTool,
  type MastraTool,
  statusTool,
} from "./tools.ts";
export type { MastraTurnOptions } from "./turn.ts";
